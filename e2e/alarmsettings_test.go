package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

// TestRulesAndChannels: a test shows the server's own words, also when it says no; a rule
// tells a webhook and an address of what happens to the jobs of an executor.
func TestRulesAndChannels(t *testing.T) {
	t.Parallel()
	box, with := openInbox(t)
	var mu sync.Mutex
	var events []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("webhook-signature") == "" {
			http.Error(w, "not signed", http.StatusForbidden)
			return
		}
		events = append(events, r.Header.Get("X-Carillon-Event"))
	}))
	t.Cleanup(hook.Close)
	w := newWorld(t, with, func(cfg *app.ServeCmd) { cfg.AllowInternal = []string{"127.0.0.0/8"} })
	w.addJob("Settlement", map[string]any{"scheduleType": "NONE", "executorHandler": "demo.fail"})
	axe := readAxe(t)
	p := w.someone()
	p.doOpen("/incidents")
	p.doClick("[data-testid=alarm-settings]")
	p.verifyAt("/alarms")
	p.verifyAccessible("rules and channels", axe)
	p.doFill("#address", "me@example.org")
	p.doClick("[data-testid=send-test]")
	p.verifyText("[data-testid=test-answer]", "250")
	p.expectProblem("422")
	p.doFill("#address", "nobody@example.org")
	p.doClick("[data-testid=send-test]")
	p.verifyText("[data-testid=test-refused]", "550 5.1.1 no such person")
	p.verifyAccessible("a test that is refused", axe)

	p.doClick("[data-testid=add-channel]")
	p.doClick(".form-actions button")
	p.verifyVisible("[data-testid=error-name]")
	p.verifyAccessible("the form of a channel", axe)
	p.doFill("#name", "Desk")
	p.doFill("#url", hook.URL+"/hooks/secret-of-the-desk")
	p.doFill("#secret", "first")
	p.doClick(".form-actions button")
	p.verifyText("[data-testid=channel-row]", "Desk")
	require.NotContains(t, w.text("/alarms"), "secret-of-the-desk")
	p.doClick("[data-testid=test-channel]")
	p.verifyText("[data-testid=test-answer]", "200")
	p.doClick("[data-testid=channel-row] a.name")
	require.NotContains(t, p.textOf("[data-testid=channel-form]"), "secret-of-the-desk")
	p.doFill("#name", "Front desk")
	p.doClick(".form-actions button")
	p.doClick("[data-testid=test-channel]") // with what was stored
	p.verifyText("[data-testid=test-answer]", "200")

	p.doClick("[data-testid=add-rule]")
	p.verifyAccessible("the form of a rule", axe)
	p.doFill("#name", "Samples")
	p.doChoose("#executor", "1")
	p.doFill("#mails", "ops@example.org, nonsense")
	p.doClick("[name=channel]")
	p.doClick(".form-actions button")
	p.verifyVisible("[data-testid=error-mails]")
	p.doFill("#mails", "ops@example.org")
	p.doClick(".form-actions button")
	p.verifyCount("[data-testid=rule-row]", 2)
	p.verifyText("[data-testid=rule-row] >> nth=1", "Front desk")

	w.api("triggerJob", map[string]any{"id": 1, "executorParam": ""})
	w.until("mail and webhook are there", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(box.text(1), "Settlement") && len(events) == 3
	})
	require.Equal(t, []string{"test", "test", "opened"}, events)
	p.doOpen("/incidents/1")
	p.verifyCount("[data-testid=told-line]", 2)
	p.verifyText("[data-testid=told]", "Front desk")

	p.doOpen("/alarms")
	p.doClick("[data-testid=delete-rule]")
	p.verifyAccessible("the question", axe)
	p.doClick("#dialog button[type=submit]")
	p.verifyCount("[data-testid=rule-row]", 1)
	p.doClick("[data-testid=default-rule]")
	p.doClick("[data-testid=fold-told] summary")
	p.doFill("#remind", "60")
	p.doClick(".form-actions button")
	p.verifyText("[data-testid=rule-row]", "reminder every 1 h")
}

// TestTheAddressOfAnAccount is given in the profile, and chosen where people are told: once,
// below what was typed.
func TestTheAddressOfAnAccount(t *testing.T) {
	t.Parallel()
	p := newWorld(t).someone()
	p.expectProblem("422")
	p.doOpen("/profile")
	p.doFill("#mail", "root at example")
	p.doClick("[data-testid=profile-form] .form-actions button")
	p.verifyText("[data-testid=error-mail]", "root at example")
	p.doFill("#mail", "root@example.org")
	p.doClick("[data-testid=profile-form] .form-actions button")
	p.verifyValue("#mail", "root@example.org")
	p.doOpen("/users")
	p.verifyText("[data-testid=user-mail]", "root@example.org")
	axe := readAxe(t)
	for path, field := range map[string]string{"/alarms/rules/new": "mails", "/reports/mails/new": "to"} {
		p.doOpen(path)
		p.doFill("#"+field, "ops@example.org,")
		for range 2 {
			p.doChoose("[data-testid=people-"+field+"]", "root@example.org")
			p.doClick("[data-testid=add-to-" + field + "]")
		}
		p.verifyValue("#"+field, "ops@example.org\nroot@example.org")
		p.verifyAccessible(path, axe)
		require.NoError(t, p.page.SetViewportSize(390, 844))
		p.verifyNoOverflow(path)
		require.NoError(t, p.page.SetViewportSize(1280, 800))
	}
}
