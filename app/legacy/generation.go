package legacy

import "time"

// generation is which answer a script expects.
type generation int

const (
	second generation = 2 // 2.x, and 3.2 in its lists
	third  generation = 3 // 3.3 and later
)

// Names under which scripts find and send the session.
const (
	secondCookie = "XXL_JOB_LOGIN_IDENTITY"
	thirdCookie  = "xxl_job_login_token"
)

// generation is told by the paging parameters first, because 3.2 has the lists of
// the second and the login of the third, then by the address, then by the cookie.
func (c *call) generation() generation {
	q := c.r.Form
	if q == nil {
		q = c.r.URL.Query()
	}
	switch {
	case q.Has("start") || q.Has("length"):
		return second
	case q.Has("offset") || q.Has("pagesize"):
		return third
	}
	switch c.path {
	case "/login", "/logout", "/jobinfo/add", "/jobinfo/remove", "/jobgroup/save", "/jobgroup/remove", "/joblog/getJobsByGroup", "/user/add", "/user/remove", "/user/updatePwd":
		return second
	case "/auth/doLogin", "/auth/logout", "/jobinfo/insert", "/jobinfo/delete", "/jobgroup/insert", "/jobgroup/delete", "/user/insert", "/user/delete", "/auth/updatePwd":
		return third
	}
	if _, err := c.r.Cookie(secondCookie); err == nil {
		return second
	}
	return third
}

// paging reads which page is wanted.
func (c *call) paging() (offset, limit int) {
	offset, limit = atoi(c.value("offset", "start"), 0), atoi(c.value("pagesize", "length"), 10)
	if limit < 1 {
		limit = 10
	}
	return offset, limit
}

// time writes an instant as the generation does; none is null.
func (c *call) time(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	if c.generation() == second {
		return t.UTC().Format("2006-01-02T15:04:05.000+00:00")
	}
	return t.In(c.h.Service.Now().Location()).Format(time.DateTime)
}
