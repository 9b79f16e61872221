package e2e

import "testing"

func TestLoginErrors(t *testing.T) {
	t.Parallel()
	p := newWorld(t).visitor()
	p.expectProblem("422")

	p.doOpen("/login")
	p.verifyFocused("#name")
	for _, wrong := range [][2]string{{"admin", "not the password"}, {"nobody", password}, {"", ""}} {
		p.doLogIn(wrong[0], wrong[1])
		p.verifyText("[data-testid=login-error]", "User name or password is wrong.")
		p.verifyValue("#name", wrong[0])
		p.verifyValue("#password", "")
	}
}

func TestLoginReturnsToTheWantedPage(t *testing.T) {
	t.Parallel()
	p := newWorld(t).visitor()

	p.doOpen("/runs?status=failed&preset=today")
	p.verifyAtLike(`/login\?next=.*`)
	p.doLogIn("admin", password)
	p.verifyAt("/runs?status=failed&preset=today")
	p.verifyAttribute("[data-testid=segment-failed]", "aria-current", "true")

	// Who is in already is not asked again.
	p.doOpen("/login?next=%2Fhelp")
	p.verifyAt("/help")

	p.doClick("[data-testid=user-menu]")
	p.doClick("[data-testid=logout]")
	p.verifyAt("/login")
	p.doOpen("/jobs")
	p.verifyAt("/login?next=%2Fjobs")
}

// TestLoginNeverLeavesTheSite gives addresses of others as the page to return to.
func TestLoginNeverLeavesTheSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, next := range []string{"https%3A%2F%2Fexample.org%2F", "%2F%2Fexample.org", "%2F%5Cexample.org", "javascript%3Aalert(1)"} {
		p := w.visitor()
		p.doOpen("/login?next=" + next)
		p.doLogIn("admin", password)
		p.verifyAt("/")
	}
}

func TestLogoutElsewhere(t *testing.T) {
	t.Parallel()
	p := newWorld(t).someone()
	p.expectProblem("401")

	// A page that is open when the login ends goes to the login by itself.
	p.doOpen("/jobs")
	if err := p.page.Context().ClearCookies(); err != nil {
		t.Fatal(err)
	}
	p.verifyAt("/login?next=%2Fjobs")
}
