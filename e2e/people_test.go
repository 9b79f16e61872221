package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestAnOperatorWithoutScripts: an administrator gives somebody one executor to operate; that
// person runs and stops jobs there and finds no way to change them; the audit has it all.
func TestAnOperatorWithoutScripts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Sleeper", map[string]any{"executorHandler": "demo.sleep", "executorParam": "1s", "scheduleType": "FIX_RATE", "scheduleConf": "3600"})
	boss := w.someone()
	boss.expectProblem("422")

	boss.doOpen("/users")
	boss.doClick("[data-testid=add-user]")
	boss.doClick(".form-actions button")
	boss.verifyVisible("[data-testid=error-name]")
	boss.doFill("#name", "olga")
	boss.doClick("[data-testid=grants] li input[type=checkbox]")
	boss.doChoose("[data-testid=grants] li select", "operate")
	boss.doChoose("#start_page", "/jobs")
	boss.doClick(".form-actions button")
	boss.verifyVisible("[data-testid=made-up]")
	axe := readAxe(t)
	boss.verifyAccessible("the password that is shown once", axe)
	secret := boss.textOf("[data-testid=password]")
	require.Len(t, secret, 16)
	boss.doOpen("/users/2/password")
	boss.verifyAccessible("a reset", axe)
	boss.doOpen("/users")
	boss.verifyText("[data-testid=user-row]:has-text('olga')", "operate")

	olga := w.visitor()
	olga.expectProblem("403")
	olga.doOpen("/login")
	olga.expectProblem("422")
	olga.doLogIn("olga", secret)
	olga.verifyVisible("[data-testid=must-change]")
	olga.verifyAccessible("an own password", axe)
	olga.doOpen("/runs") // nothing else before
	olga.verifyAt("/password?next=%2Fruns")
	olga.doChooseOwn(secret, secret)
	olga.verifyText("[data-testid=error-new]", "old one")
	olga.doOpen("/jobs")
	secret = olga.doChooseOwn(secret, "olga's own password")
	olga.verifyAt("/jobs") // where she wants to begin
	row := "[data-testid=job-row]:has-text('Sleeper')"
	olga.verifyCount("[data-testid=add-job]", 0)
	olga.verifyCount(row+" a[href$='/edit']", 0)
	olga.doClick(row + " [data-testid=start-job]")
	olga.verifyText(row+" [data-testid=job-status]", "running")
	olga.doClick(row + " [data-testid=stop-job]")
	olga.verifyText(row+" [data-testid=job-status]", "stopped")
	olga.doOpen("/jobs/1")
	olga.verifyCount("[data-testid=edit-job]", 0)
	olga.verifyText("[data-testid=history]", "Stop job")
	require.Equal(t, 403, olga.doOpen("/jobs/1/edit").Status())
	require.Equal(t, 403, olga.doOpen("/audit").Status())

	olga.doOpen("/profile")
	olga.verifyCount("[data-testid=session-row]", 1)
	olga.verifyCount("[data-testid=current]", 1)
	phone := w.visitor(func(o *playwright.BrowserNewContextOptions) {
		o.Viewport = &playwright.Size{Width: 390, Height: 844}
	})
	phone.expectProblem("401")
	phone.doOpen("/login")
	phone.doLogIn("olga", secret)
	phone.verifyAt("/jobs")
	olga.doReload()
	olga.verifyCount("[data-testid=session-row]", 2)
	olga.doClick("[data-testid=end-session]")
	olga.verifyCount("[data-testid=session-row]", 1)
	phone.doOpen("/runs")
	phone.verifyAtLike(`/login\?next=.*`)

	boss.doOpen("/audit?user=olga")
	boss.verifyText("[data-testid=audit-row] >> nth=0", "End a login")
	boss.verifyText("table", "Edit job")
	boss.verifyAccessible("the audit", axe)
	boss.verifyCount("[data-testid=refused]", 1)
	boss.doChoose("#action", "job.stop")
	boss.doClick("[data-testid=audit-filter] button")
	boss.verifyCount("[data-testid=audit-row]", 1)
	boss.verifyText("[data-testid=audit-row]", "Sleeper")

	boss.doOpen("/users")
	boss.doClick("[data-testid=user-row]:has-text('olga') a.name")
	boss.doClick("#disabled")
	boss.doClick(".form-actions button")
	boss.verifyVisible("[data-testid=disabled]")
	olga.doOpen("/jobs")
	olga.verifyAtLike(`/login\?next=.*`)
	olga.expectProblem("422")
	olga.doLogIn("olga", secret)
	olga.verifyText("[data-testid=login-error]", "disabled")
}
