package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheBrowserIsWatched: what every browser test must fail on is noticed, and no test opens
// a browser that nobody watches.
func TestTheBrowserIsWatched(t *testing.T) {
	t.Parallel()
	p := newWorld(t).visitor()
	p.doOpen("/login")
	_, err := p.page.Evaluate(`() => {
		console.error("said by the test");
		fetch("http://elsewhere.invalid/").catch(() => {});
		const style = document.createElement("style");
		style.textContent = "body { color: red }";
		document.head.append(style);
		document.body.setAttribute("style", "color: red");
		setTimeout(() => { throw new Error("thrown by the test"); });
	}`)
	require.NoError(t, err)
	for _, what := range []string{"said by the test", "elsewhere.invalid", "Applying inline style violates", "thrown by the test"} {
		p.until(what+" is noticed", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, problem := range p.problems {
				if strings.Contains(problem, what) {
					return true
				}
			}
			return false
		})
		p.expectProblem(what)
	}
	p.expectProblem("Content Security Policy")

	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		want := 0
		if file == "person_test.go" || file == "mailpictures_test.go" { // mails are no pages of ours
			want = 1
		}
		require.Equal(t, want, strings.Count(string(source), "browser.New"+"Context("), file)
		require.Zero(t, strings.Count(string(source), "browser.New"+"Page("), file)
	}
}
