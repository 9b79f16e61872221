package views

import (
	"github.com/carillon-scheduler/carillon/model"
)

// ScriptView is the editor of a script.
type ScriptView struct {
	Page
	Job      model.Job // with the current text
	Versions []model.ScriptVersion
	// Source is what stands in the editor: the current text, a version or what was typed.
	Source, Remark           string
	SourceError, RemarkError string
	// Restored is the version whose text is in the editor, nil = none.
	Restored *model.ScriptVersion
	// Lacking is the executor of which no address runs the type of the script, as far as is
	// known; "" = some does, or nobody knows.
	Lacking string
	MayEdit bool  // has the right to scripts
	Kept    bool  // Source was typed before the login ran out
	Version int64 // of the job, when the edit began
	// Conflict says that somebody saved meanwhile; Theirs compares what they saved with
	// what was typed.
	Conflict bool
	Theirs   []DiffLine
	Run      *RunView // made by "save and run", nil = none
}

// DiffLine is a line of a comparison of texts, as in jobs.DiffLine. Op 0 stands for Old
// lines that both have and that are not shown.
type DiffLine struct {
	Op       byte
	Old, New int
	Text     string
}

// ScriptDiff compares two versions of a script.
type ScriptDiff struct {
	Page
	Job      model.Job
	Versions []model.ScriptVersion
	From, To model.ScriptVersion
	Lines    []DiffLine
	Cut      bool // there are more lines than are shown
}

func (v ScriptView) path(rest string) string { return v.URL("/jobs/" + itoa(v.Job.ID) + rest) }

func (v ScriptDiff) path(rest string) string { return v.URL("/jobs/" + itoa(v.Job.ID) + rest) }

// dirty reports whether the text in the editor is saved nowhere as the current one.
func (v ScriptView) dirty() string {
	if v.Restored != nil || v.Conflict || v.Kept || v.SourceError+v.RemarkError != "" {
		return "dirty"
	}
	return ""
}

// language names the mode of the editor, see scripts/codemirror/editor.js.
func (v ScriptView) language() string {
	switch v.Job.GlueType {
	case model.GlueShell:
		return "shell"
	case model.GluePython, model.GluePython2:
		return "python"
	case model.GlueGroovy:
		return "groovy"
	case model.GlueNodeJS:
		return "javascript"
	case model.GluePHP:
		return "php"
	case model.GluePowerShell:
		return "powershell"
	}
	return ""
}

// versionName is a version in a list of choices.
func versionName(p Page, v model.ScriptVersion) string {
	name := p.when(v.AddTime)
	if v.ID == 0 {
		name = p.T("script.current")
	}
	if v.Author != "" {
		name += " · " + v.Author
	}
	if v.Remark != "" {
		name += " · " + v.Remark
	}
	return name
}

// FoldDiff leaves out what both texts have further than three lines from a change, and
// says whether more than most lines are left.
func FoldDiff(lines []DiffLine, most int) (out []DiffLine, cut bool) {
	const around = 3
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Op == ' ' {
			continue
		}
		for k := max(0, i-around); k <= min(len(lines)-1, i+around); k++ {
			near[k] = true
		}
	}
	hidden := 0
	flush := func() {
		if hidden > 0 {
			out = append(out, DiffLine{Old: hidden})
		}
		hidden = 0
	}
	for i, l := range lines {
		if !near[i] {
			hidden++
			continue
		}
		if flush(); len(out) >= most {
			return out, true
		}
		out = append(out, l)
	}
	flush()
	return out, false
}

// mark is the sign before a line.
func (l DiffLine) mark() string { return string(rune(l.Op)) }

func (l DiffLine) class() string {
	switch l.Op {
	case '-':
		return "gone"
	case '+':
		return "new"
	case 0:
		return "equal"
	}
	return ""
}
