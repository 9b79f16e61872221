package e2e

import (
	"archive/zip"
	"bytes"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestATargetFromItsFormToItsEnd: with keys alone on a narrow page a target is added, mended
// where it is wrong, seen on the report, named in its mail and its workbook, changed, and
// deleted after a question.
func TestATargetFromItsFormToItsEnd(t *testing.T) {
	t.Parallel()
	box, with := openInbox(t)
	w, st := seededWorld(t, with)
	w.reports(st)
	axe := readAxe(t)
	p := w.someone().withoutMouse()
	require.NoError(t, p.page.SetViewportSize(390, 844))
	p.doOpen("/reports")
	p.doTab("Tab", "[data-testid=edit-targets]")
	p.doPress("Enter")
	p.doLoaded("/reports/targets")
	p.verifyVisible("[data-testid=empty]")
	p.verifyAccessible("no targets", axe)
	p.doTab("Tab", "[data-testid=add-target]")
	p.doPress("Enter")

	p.doLoaded("/reports/targets/new")
	p.verifyAccessible("the form of a target", axe)
	p.verifyNoOverflow("the form of a target")
	p.doTab("Tab", "#name")
	p.doKeys("Everything")
	p.doTab("Tab", "#goal")
	p.doKeys("101")
	p.doTab("Tab", "#scope")
	p.doPress("a") // All jobs
	p.verifyValue("#scope", "all")
	p.expectProblem("422")
	p.doTab("Tab", ".form-actions button")
	p.doPress("Enter")
	p.verifyVisible("[data-testid=error-goal]")
	p.verifyValue("#name", "Everything")
	p.verifyValue("#goal", "101")
	p.verifyAccessible("a target that is wrong", axe)
	p.doTab("Tab", "#goal")
	p.doPress("Control+a")
	p.doKeys("99.9")
	p.doPress("Enter")

	p.doLoaded("/reports/targets")
	p.verifyText("[data-testid=target-row]", "Everything")
	p.verifyText("[data-testid=target-row]", "99.9%")
	p.verifyNoOverflow("targets")
	p.verifyAccessible("targets", axe)
	p.doOpen("/reports")
	p.verifyAttribute("[data-testid=target]", "data-state", "missed")
	p.verifyText("[data-testid=target]", "✖")
	p.verifyNoOverflow("a report with a target")
	p.verifyAccessible("a report with a target", axe)
	require.NoError(t, p.page.SetViewportSize(1280, 800))
	p.verifyNoOverflow("a report with a target")
	require.NoError(t, p.page.SetViewportSize(390, 844))
	href, err := p.page.Locator("[data-testid=xlsx]").GetAttribute("href")
	require.NoError(t, err)
	raw := []byte(w.text(href))
	book, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	sheets := 0
	for _, f := range book.File {
		if ok, _ := path.Match("xl/worksheets/*.xml", f.Name); ok {
			sheets++
		}
	}
	require.Equal(t, 5, sheets)

	p.doOpen("/reports/mails/new")
	p.doTab("Tab", "#name")
	p.doKeys("Every morning")
	p.doTab("Tab", "#to")
	p.doKeys("boss@example.org")
	p.doTab("Tab", ".form-actions button")
	p.doPress("Enter")
	p.doLoaded("/reports/mails")
	p.doTab("Tab", "[name=address]")
	p.doKeys("boss@example.org")
	p.doPress("Enter")
	p.verifyText("[data-testid=report-answer]", "250")
	require.Contains(t, box.text(0), "Everything · ")

	p.doOpen("/reports/targets")
	p.doTab("Tab", "[data-testid=target-row] a.name")
	p.doPress("Enter")
	p.doLoaded("/reports/targets/1/edit")
	p.verifyValue("#goal", "99.9")
	p.doTab("Tab", "#goal")
	p.doPress("Control+a")
	p.doKeys("1")
	p.doTab("Tab", ".form-actions button")
	p.doPress("Enter")
	p.doLoaded("/reports/targets")
	p.doOpen("/reports")
	p.verifyAttribute("[data-testid=target]", "data-state", "good")

	p.doOpen("/reports/targets")
	p.doTab("Tab", "[data-testid=delete-target]")
	p.doPress("Enter")
	p.verifyText("#dialog[open]", "Everything")
	p.verifyDialogFits("delete a target")
	p.doPress("Escape")
	p.verifyCount("#dialog[open]", 0)
	p.verifyFocused("[data-testid=delete-target]")
	p.doPress("Enter")
	p.verifyVisible("#dialog[open]")
	p.doTab("Tab", "#dialog .btn-danger")
	p.doPress("Enter")
	p.verifyVisible("[data-testid=empty]")
	p.verifyCount("[data-testid=target-row]", 0)
}
