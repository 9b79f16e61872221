package legacy

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// oldLogin tells a login of old by its field; the form of our own has another.
func oldLogin(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	if readForm(nil, r, maxLoginBody) != nil {
		r.Form, r.PostForm = nil, nil
		return false // our own login reads it again and says what is wrong
	}
	return r.Form.Has("userName")
}

// oldLogout: a browser that logs out gets our page, a script its envelope.
func oldLogout(r *http.Request) bool {
	_, err := r.Cookie(secondCookie)
	return err == nil && r.Header.Get("HX-Request") == "" && !strings.Contains(r.Header.Get("Accept"), "text/html")
}

// login starts an ordinary session. Its token goes out under the name that the
// caller looks for, and under our own, so that a browser is logged in as well.
func login(c *call) (any, error) {
	remember := c.value("ifRemember") == "on" || c.value("ifRemember") == "true"
	token, err := c.h.Logins.Enter(c.r, c.value("userName"), c.value("password"), remember)
	if e, ok := errors.AsType[*model.Error](err); ok {
		if wait, ok := e.Args["Wait"].(time.Duration); ok {
			c.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		}
	}
	if err != nil {
		return nil, err
	}
	name := secondCookie
	if c.generation() == third {
		name = thirdCookie
	}
	ours := c.h.Logins.Cookie(token, remember)
	theirs := *ours
	theirs.Name, theirs.Path = name, "/"
	http.SetCookie(c.w, &theirs)
	http.SetCookie(c.w, ours)
	return nil, nil
}

// logout ends the session under whatever name it was sent.
func logout(c *call) (any, error) {
	ours := c.h.Logins.Cookie("", false)
	for _, name := range []string{secondCookie, thirdCookie, ours.Name} {
		k, err := c.r.Cookie(name)
		if err != nil {
			continue
		}
		if err := c.h.Logins.Leave(c.r, k.Value); err != nil {
			return nil, err
		}
		gone := *ours
		if gone.Name = name; name != ours.Name {
			gone.Path = "/"
		}
		http.SetCookie(c.w, &gone)
	}
	return nil, nil
}
