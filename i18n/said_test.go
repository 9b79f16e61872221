package i18n

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// saying is one place that says something of a run: the code and the names of the
// arguments as the texts know them, without MS and At.
type saying struct {
	at, code string
	args     []string
}

// computed lists the places whose code is not written where it is said, with what they
// may say. A new one must be added here.
func computed() map[string][]saying {
	late := []string{"Late", "Strategy"}
	outage := append(slices.Clone(late), "From", "Until")
	return map[string][]saying{
		"settle.go code": {
			{code: "lost_gone", args: []string{"Address", "Text"}}, {code: "lost_unknown", args: []string{"Address", "Text"}},
			{code: "lost_unasked", args: []string{"Address", "Text"}}, {code: "lost_busy", args: []string{"Address", "Text"}},
			{code: "lost_in_vain", args: []string{"Address", "Text", "Count"}},
		},
		"plan.go r.Reason": {
			{code: model.ReasonMisfire, args: late}, {code: model.ReasonLocked, args: outage}, {code: model.ReasonCenterDown, args: outage},
			{code: model.ReasonStarved, args: outage}, {code: model.ReasonNoDatabase, args: outage},
		},
		"plan.go code":      {{code: "stands_for", args: []string{"Count", "From"}}, {code: "stands_for_at_least", args: []string{"Count", "From"}}},
		"lost.go why":       nil, // what verdict returns
		"batch.go reason":   {{code: model.ReasonPaused}, {code: model.ReasonCancelled}},
		"cancel.go reason":  {{code: model.ReasonPaused}, {code: model.ReasonCancelled}},
		"putback.go reason": {{code: model.ReasonPaused}, {code: model.ReasonCancelled}},
	}
}

// saidOnlyByOthers are reasons that the center never says itself: executors report
// them, or it says more precisely how it came (killed_by, lost_idle and so on). A run
// with nothing but the reason is worded by reason.CODE.
func saidOnlyByOthers() []string {
	return []string{model.ReasonError, model.ReasonTimeout, model.ReasonKilled, model.ReasonLost}
}

// TestWhatIsSaidHasWords: what the center and the SDK say of runs has a sentence in
// every language, and each argument in it is given where it is said.
func TestWhatIsSaidHasWords(t *testing.T) {
	said := sayings(t)
	require.Greater(t, len(said), 40, "the search has found too little")
	for _, lang := range Languages() {
		texts := catalog(t, lang)
		for _, s := range said {
			text, known := texts["why."+s.code]
			if !known {
				t.Errorf("%s says %q, which has no text why.%s in %s", s.at, s.code, s.code, lang)
				continue
			}
			for _, form := range forms(text) {
				for _, name := range placeholders(form) {
					if !slices.Contains(s.args, name) {
						t.Errorf("%s says %q without %s, which the text in %s needs", s.at, s.code, name, lang)
					}
				}
			}
		}
		for _, r := range model.Reasons() {
			for _, prefix := range []string{"missed.", "reason.", "why."} {
				if _, known := texts[prefix+r.Code]; !known && (prefix != "why." || !slices.Contains(saidOnlyByOthers(), r.Code)) {
					t.Errorf("the reason %s has no text %s in %s", r.Code, prefix+r.Code, lang)
				}
			}
		}
		for key := range texts { // a sentence that nobody says is a mistake in a code
			code, isWhy := strings.CutPrefix(key, "why.")
			_, isReason := model.ReasonOf(code)
			if isWhy && !isReason && !slices.ContainsFunc(said, func(s saying) bool { return s.code == code }) {
				t.Errorf("nobody says %s of %s", key, lang)
			}
		}
	}
}

// sayings reads all calls of Say in the source.
func sayings(t *testing.T) []saying {
	t.Helper()
	var out []saying
	constants := map[string]string{}
	files := map[string]*ast.File{}
	set := token.NewFileSet()
	require.NoError(t, filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if d.IsDir() || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || strings.HasSuffix(p, "_templ.go") {
			return nil
		}
		files[p], err = parser.ParseFile(set, p, nil, 0)
		return err
	}))
	ast.Inspect(files[filepath.Join("..", "model", "reason.go")], func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if text, ok := literal(v.Values[0]); ok {
				constants[v.Names[0].Name] = text
			}
		}
		return true
	})
	special := computed()
	for p, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if fn, ok := n.(*ast.FuncDecl); ok && fn.Name.Name == "verdict" && filepath.Base(p) == "lost.go" {
				for _, code := range returned(fn) {
					special["lost.go why"] = append(special["lost.go why"], saying{code: code, args: []string{"Address"}})
				}
			}
			return true
		})
	}
	require.NotEmpty(t, special["lost.go why"])
	for p, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || !isSay(call.Fun) {
				return true
			}
			at := set.Position(call.Pos()).String()
			code, isLiteral := literal(call.Args[0])
			if x, ok := call.Args[0].(*ast.SelectorExpr); ok && !isLiteral {
				code, isLiteral = constants[x.Sel.Name]
			}
			if !isLiteral {
				name := filepath.Base(p) + " " + source(call.Args[0])
				list, known := special[name]
				if !known {
					t.Errorf("%s says what this test cannot read: add %q to computed", at, name)
				}
				for _, s := range list {
					out = append(out, saying{at, s.code, s.args})
				}
				return true
			}
			s := saying{at: at, code: code}
			for i := 1; i < len(call.Args); i += 2 {
				if name, ok := literal(call.Args[i]); ok {
					s.args = append(s.args, strings.TrimSuffix(strings.TrimSuffix(name, "MS"), "At"))
				}
			}
			out = append(out, s)
			return true
		})
	}
	return out
}

func isSay(fun ast.Expr) bool {
	x, ok := fun.(*ast.SelectorExpr)
	if !ok || x.Sel.Name != "Say" {
		return false
	}
	pkg, ok := x.X.(*ast.Ident)
	return ok && (pkg.Name == "model" || pkg.Name == "protocol")
}

func returned(fn *ast.FuncDecl) (out []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			if text, ok := literal(r.Results[0]); ok && text != "" {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

func literal(e ast.Expr) (string, bool) {
	b, ok := e.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(b.Value)
	return text, err == nil
}

func source(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return source(x.X) + "." + x.Sel.Name
	}
	return "?"
}
