package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestALinkOfAMailActs without a login, after one question, once; whoever only looks at it
// changes nothing.
func TestALinkOfAMailActs(t *testing.T) {
	t.Parallel()
	box, with := openInbox(t)
	w := newWorld(t, with)
	w.addJob("Settlement", map[string]any{"scheduleType": "NONE", "executorHandler": "demo.fail", "alarmEmail": "oncall@example.org"})
	w.api("triggerJob", map[string]any{"id": 1, "executorParam": ""})
	w.until("the mail is there", func() bool { return box.text(0) != "" })
	ack := regexp.MustCompile(`http://\S+/link\?do=ack\S+`).FindString(box.text(0))
	mute := regexp.MustCompile(`http://\S+/link\?do=mute8h\S+`).FindString(box.text(0))
	require.NotEmpty(t, ack, box.text(0))
	require.NotEmpty(t, mute)

	p := w.visitor(func(o *playwright.BrowserNewContextOptions) { o.Viewport = &playwright.Size{Width: 390, Height: 844} })
	p.doOpen(strings.TrimPrefix(ack, w.url))
	p.verifyText("h1", "Settlement")
	p.verifyAccessible("the question", readAxe(t))
	p.doOpen(strings.TrimPrefix(ack, w.url)) // a scanner looked first
	p.doClick("[data-testid=link-act]")
	p.verifyVisible("[data-testid=link-done]")
	p.verifyAccessible("done", readAxe(t))
	p.expectProblem("409")
	p.doOpen(strings.TrimPrefix(ack, w.url))
	p.verifyVisible("[data-testid=link-problem]")
	p.doOpen(strings.TrimPrefix(mute, w.url))
	p.doClick("[data-testid=link-act]")
	p.verifyVisible("[data-testid=link-done]")
	p.doOpen(strings.TrimPrefix(strings.Replace(ack, "ack.1.", "ack.2.", 1), w.url))
	p.verifyVisible("[data-testid=link-problem]")

	p.doOpen("/incidents/1")
	p.doLogIn("admin", password)
	p.verifyText("[data-testid=incident-state]", "muted")
	p.verifyText("[data-testid=incident-history]", "oncall@example.org")
}
