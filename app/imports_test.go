package app_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/carillon-scheduler/carillon"

// mayImport is the table of ARCHITECTURE.md: which of our packages a package
// may import. A package that is missing here fails the test: add it on purpose.
func mayImport() map[string][]string {
	return map[string][]string{
		"":            {"app"},
		"app":         {"*"},
		"app/api":     {"jobs", "protocol", "model"},
		"app/console": {"views", "static", "i18n", "jobs", "jobfile", "report", "model"},
		"app/legacy":  {"jobs", "model"},
		"views":       {"i18n", "model"},
		"static":      {},
		"alarm":       {"model"},
		"report":      {"model"},
		"jobfile":     {"model"},
		"jobs":        {"model", "report", "scheduler/cron"},
		"scheduler": {"model", "scheduler/config", "scheduler/call", "scheduler/loop", "scheduler/plan", "scheduler/dispatch",
			"scheduler/settle", "scheduler/node", "scheduler/upkeep"},
		"scheduler/config":   {"model"},
		"scheduler/call":     {"protocol"},
		"scheduler/loop":     {},
		"scheduler/rule":     {"model", "scheduler/cron"},
		"scheduler/plan":     {"model", "scheduler/config", "scheduler/cron", "scheduler/rule"},
		"scheduler/dispatch": {"model", "protocol", "router", "scheduler/config", "scheduler/call", "scheduler/loop", "scheduler/rule"},
		"scheduler/settle":   {"model", "protocol", "scheduler/config", "scheduler/call", "scheduler/rule"},
		"scheduler/node":     {"model", "scheduler/config", "scheduler/rule"},
		"scheduler/upkeep":   {"model", "scheduler/config"},
		"scheduler/cron":     {},
		"router":             {"model"},
		"executorclient":     {"protocol"},
		"protocol":           {},
		"executor":           {"protocol"},
		"i18n":               {},
		"model":              {},
		"store":              {"model"},
		"store/storetest":    {"store", "store/storetest/mariadb", "migrations", "model"},
		"migrations":         {"model"},
		"mail":               {},
		"channel":            {},
		"e2e":                {"app", "model"},
		"bench":              {"app", "protocol", "store/storetest/mariadb"},

		"store/storetest/mariadb": {},
		"e2e/crash":               {},
		"e2e/interop":             {},
		"scripts/testsum":         {},
	}
}

// mustNotImport names packages of others that must stay out of a room.
func mustNotImport() map[string][]string {
	const echo, sql, templ = "github.com/labstack/echo/v4", "database/sql", "github.com/a-h/templ"
	return map[string][]string{
		"views": {echo, sql, "net/http"}, "jobs": {echo, sql, templ}, "alarm": {echo, sql, templ, "net/http"}, "report": {echo, sql, templ, "net/http"}, "scheduler": {echo, sql, templ, "net/http"},
		"scheduler/cron": {"net/http", sql}, "scheduler/rule": {"net/http", sql}, "scheduler/plan": {"net/http", sql}, "scheduler/dispatch": {"net/http", sql},
		"scheduler/settle": {"net/http", sql}, "scheduler/node": {"net/http", sql}, "router": {"net/http", sql}, "executorclient": {echo, sql}, "protocol": {"net/http", sql},
		"executor": {echo, sql}, "i18n": {echo, sql}, "model": {"net/http", sql, templ}, "jobfile": {"net/http", sql, templ}, "store": {echo, templ}, "static": {echo, sql, templ},
		"app/console": {sql}, "app/api": {sql, templ}, "app/legacy": {echo, sql, templ},
		"mail": {"net/http", sql, templ}, "channel": {echo, sql, templ},
	}
}

// onlyIn names modules of others that one room alone may import.
func onlyIn() map[string]string {
	return map[string]string{"github.com/wneessen/go-mail": "mail", "code.dny.dev/ssrf": "channel", "github.com/xuri/excelize/v2": "report"}
}

func TestImportTable(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	allowed, banned := mayImport(), mustNotImport()
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(strings.TrimPrefix(fields[0], module), "/")
		may, known := allowed[pkg]
		if !known {
			t.Errorf("package %q is not in the import table", pkg)
			continue
		}
		for _, imp := range fields[1:] {
			if slices.Contains(banned[pkg], imp) {
				t.Errorf("%s must not import %s", pkg, imp)
			}
			for module, room := range onlyIn() {
				if (imp == module || strings.HasPrefix(imp, module+"/")) && pkg != room {
					t.Errorf("%s must not import %s, %s does", pkg, imp, room)
				}
			}
			ours, isOurs := strings.CutPrefix(imp, module+"/")
			if isOurs && !slices.Contains(may, ours) && !slices.Contains(may, "*") {
				t.Errorf("%s must not import %s", pkg, ours)
			}
		}
	}
}
