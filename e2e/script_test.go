package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

const editor = ".cm-content" // inside the shadow root of the editor

func (w *world) addScript(source string) string {
	return w.addJob("Greeting", map[string]any{"glueType": "GLUE_SHELL", "executorHandler": "", "glueSource": source, "glueRemark": "first"})
}

// TestScriptEditor: type, save with Ctrl-S, run, read the log below, compare, restore.
func TestScriptEditor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addScript("#!/bin/sh\necho one\n")
	p := w.someone()
	p.expectProblem("422")

	p.doOpen("/jobs/" + id)
	p.doClick("[data-testid=edit-script]")
	p.verifyAt("/jobs/" + id + "/code")
	p.verifyText(editor, "echo one")
	p.verifyVisible("[data-testid=script-form][data-ready]")
	p.verifyFocused(editor)
	p.verifyAccessible("the script editor", readAxe(t))

	// Ctrl-S without a remark asks for it; with one it saves, and the cursor stays.
	require.NoError(t, p.page.Keyboard().Press("Control+End"))
	require.NoError(t, p.page.Keyboard().Type("echo two"))
	require.NoError(t, p.page.Keyboard().Press("Control+s"))
	p.verifyFocused("#glue_remark")
	p.doFill("#glue_remark", "says two")
	require.NoError(t, p.page.Keyboard().Press("Control+s"))
	p.verifyText("[data-testid=toast]", "The script is saved.")
	p.verifyCount("[data-testid=version]", 2)
	p.verifyText("[data-testid=version] >> nth=0", "says two")
	p.verifyText("[data-testid=version] >> nth=0", "admin")
	p.verifyFocused(editor)
	require.NoError(t, p.page.Keyboard().Type(" three"))
	p.verifyText(editor, "echo two three")

	// Unsaved text is not left without a question.
	asked := false
	p.page.OnDialog(func(d playwright.Dialog) {
		asked = asked || d.Type() == "beforeunload"
		_ = d.Dismiss()
	})
	_, err := p.page.Evaluate(`setTimeout(() => document.querySelector("[data-testid=nav-jobs]").click())`)
	require.NoError(t, err)
	p.until("the browser asks", func() bool { return asked })
	p.verifyAt("/jobs/" + id + "/code")

	// Save and run: the log of the run is below.
	p.doClick("[data-testid=save-and-run]")
	p.verifyVisible("[data-testid=error-glue_remark]")
	p.verifyText(editor, "echo two three")
	p.doFill("#glue_remark", "and three")
	p.doClick("[data-testid=save-and-run]")
	p.verifyAtLike(`/jobs/` + id + `/code\?run=\d+`)
	p.verifyText("#log-lines", "two three")
	p.verifyText("#log-state", "complete")
	p.verifyGreen("[data-testid=script-run]")

	// Compare with the first version and restore it: saved as a new one.
	p.doClick("[data-testid=version]:last-child [data-testid=compare]")
	p.verifyText("[data-testid=diff] tr.new", "echo two three")
	p.verifyCount("[data-testid=diff] tr.gone", 0)
	p.verifyAccessible("the comparison", readAxe(t))
	p.doClick("[data-testid=restore]")
	p.verifyVisible("[data-testid=script-restored]")
	p.verifyText(editor, "echo one")
	p.doClick("[data-testid=save-script]")
	p.verifyText("[data-testid=toast]", "The script is saved.")
	p.verifyCount("[data-testid=version]", 4)
	p.verifyText("[data-testid=version] >> nth=0", "first")
	p.doClick("[data-testid=version] >> nth=3 >> [data-testid=compare]")
	p.verifyVisible("[data-testid=no-difference]")
}

// TestScriptConflict keeps both texts and lets the person choose.
func TestScriptConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addScript("echo one\n")
	mine, theirs := w.someone(), w.someone()
	mine.expectProblem("409")
	mine.doOpen("/jobs/" + id + "/code")
	theirs.doOpen("/jobs/" + id + "/code")
	for _, p := range []*person{theirs, mine} {
		text := "echo mine\n"
		if p == theirs {
			text = "echo theirs\n"
		}
		p.verifyFocused(editor)
		require.NoError(t, p.page.Keyboard().Press("Control+a"))
		require.NoError(t, p.page.Keyboard().Type(text))
		p.doFill("#glue_remark", text)
		p.doClick("[data-testid=save-script]")
	}
	theirs.verifyCount("[data-testid=version]", 2)
	mine.verifyVisible("[data-testid=script-conflict]")
	mine.verifyText("[data-testid=diff] tr.gone", "echo theirs")
	mine.verifyText("[data-testid=diff] tr.new", "echo mine")
	mine.verifyText(editor, "echo mine")
	mine.doClick("[data-testid=save-script]")
	mine.verifyText("[data-testid=toast]", "The script is saved.")
	mine.verifyCount("[data-testid=version]", 3)
}

// TestScriptWithoutJavaScript: a text area does it all.
func TestScriptWithoutJavaScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addScript("echo one\n")
	p := w.someone(noScripts)
	p.doOpen("/jobs/" + id + "/code")
	p.verifyValue("#glue_source", "echo one\n")
	p.doFill("#glue_source", "\n# first line is empty\necho </textarea> two\n")
	p.doFill("#glue_remark", "plain")
	p.doClick("[data-testid=save-script]")
	p.verifyText("[data-testid=toast]", "The script is saved.")
	p.verifyValue("#glue_source", "\n# first line is empty\necho </textarea> two\n")
	p.doClick("[data-testid=version]:last-child [data-testid=restore]")
	p.verifyValue("#glue_source", "echo one\n")
	p.doClick("[data-testid=save-and-run]")
	p.verifyAtLike(`/jobs/` + id + `/code\?run=\d+`)
	p.until("the run is green after a reload", func() bool {
		p.doReload()
		return p.textOf("[data-testid=script-run] [data-testid=result]") == "succeeded"
	})
}
