package legacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// How much a call may send: a login little, because anybody can; a script much.
const (
	maxLoginBody = 16 << 10
	maxBody      = 5 << 20
)

// action is one JSON call.
type action struct {
	do    func(*call) (any, error)
	reads bool // changes nothing, so GET may ask for it
	open  bool // nobody need be logged in
	// mine says of an address that our console has too whether the call is meant.
	mine func(*http.Request) bool
}

func (a action) meant(r *http.Request) bool { return a.mine == nil || a.mine(r) }

// call is one question of a script.
type call struct {
	h     *Handler
	r     *http.Request
	w     http.ResponseWriter
	path  string
	user  *model.User
	actor model.Actor
}

// page is one page of a list.
type page struct {
	rows  any
	total int
}

// actions are the calls of all generations. Those that later ones gave another
// name do the same under both.
func (h *Handler) actions() map[string]action {
	read := func(do func(*call) (any, error)) action { return action{do: do, reads: true} }
	write := func(do func(*call) (any, error)) action { return action{do: do} }
	return map[string]action{
		"/login":        {do: login, open: true, mine: oldLogin},
		"/auth/doLogin": {do: login, open: true},
		"/logout":       {do: logout, open: true, mine: oldLogout},
		"/auth/logout":  {do: logout, open: true},

		"/jobinfo/pageList":        read(jobList),
		"/jobinfo/add":             write(jobAdd),
		"/jobinfo/insert":          write(jobAdd),
		"/jobinfo/update":          write(jobUpdate),
		"/jobinfo/remove":          write(jobDelete),
		"/jobinfo/delete":          write(jobDelete),
		"/jobinfo/start":           write(jobStart),
		"/jobinfo/stop":            write(jobStop),
		"/jobinfo/trigger":         write(jobTrigger),
		"/jobinfo/nextTriggerTime": read(nextTimes),
		"/jobcode/save":            write(codeSave),

		"/joblog/pageList":       read(runList),
		"/joblog/getJobsByGroup": read(jobsByGroup),
		"/joblog/logDetailCat":   read(runLog),
		"/joblog/logKill":        write(runKill),
		"/joblog/clearLog":       write(runClear),

		"/chartInfo": read(chart),

		"/jobgroup/pageList": read(groupList),
		"/jobgroup/loadById": read(groupLoad),
		"/jobgroup/save":     write(groupAdd),
		"/jobgroup/insert":   write(groupAdd),
		"/jobgroup/update":   write(groupUpdate),
		"/jobgroup/remove":   write(groupDelete),
		"/jobgroup/delete":   write(groupDelete),

		"/user/pageList":  read(userList),
		"/user/add":       write(userAdd),
		"/user/insert":    write(userAdd),
		"/user/update":    write(userUpdate),
		"/user/remove":    write(userDelete),
		"/user/delete":    write(userDelete),
		"/user/updatePwd": write(ownPassword),
		"/auth/updatePwd": write(ownPassword),
	}
}

// answer makes a call and says what came of it, with HTTP status 200 for what the
// use cases refuse: scripts read the code in the body.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, a action) {
	c := &call{h: h, r: r, w: w, path: h.strip(r.URL.Path)}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	status, out, err := http.StatusOK, any(nil), c.enter(a)
	switch {
	case err == nil:
		out, err = c.guarded(a.do)
	case model.CodeOf(err) == model.CodeForbidden:
		status = http.StatusForbidden // another site asks: no script of anybody's
	}
	if errors.Is(err, errLogin) && c.generation() == second {
		http.Redirect(w, r, h.base+"/login", http.StatusFound) // how those scripts notice
		return
	}
	c.send(status, out, err)
}

// guarded turns a panic into an error, so that a script gets its envelope.
func (c *call) guarded(do func(*call) (any, error)) (out any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return do(c)
}

var errLogin = model.Errf(model.CodeForbidden, "legacy.login")

// enter looks who asks and reads the parameters.
func (c *call) enter(a action) error {
	if err := c.h.Logins.Origin(c.r); err != nil {
		return err
	}
	limit := int64(maxBody)
	if a.open {
		limit = maxLoginBody
	} else {
		user, err := c.visitor()
		if err != nil {
			return err
		}
		if user == nil {
			_ = readForm(c.w, c.r, maxLoginBody) // it tells how to say so
			return &model.Error{Code: model.CodeInvalid, Key: errLogin.Key, Cause: errLogin}
		}
		c.user, c.actor = user, user.Actor()
		c.actor.From = c.h.Logins.From(c.r)
	}
	if c.r.Method != http.MethodPost && !(a.reads && c.r.Method == http.MethodGet) {
		return model.Errf(model.CodeInvalid, "legacy.post")
	}
	return readForm(c.w, c.r, limit)
}

// readForm reads parameters from address and body, in either encoding of forms.
func readForm(w http.ResponseWriter, r *http.Request, limit int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	var err error
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		err = r.ParseMultipartForm(limit)
	} else {
		err = r.ParseForm()
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return model.Errf(model.CodeInvalid, "legacy.large", "Max", limit)
	}
	if err != nil {
		return &model.Error{Code: model.CodeInvalid, Key: "legacy.form", Cause: err}
	}
	return nil
}

// visitor finds the session under any of its names.
func (c *call) visitor() (*model.User, error) {
	for _, name := range []string{secondCookie, thirdCookie, c.h.Logins.Cookie("", false).Name} {
		k, err := c.r.Cookie(name)
		if err != nil {
			continue
		}
		if user, err := c.h.Logins.Visitor(c.r.Context(), k.Value); user != nil || err != nil {
			return user, err
		}
	}
	return nil, nil
}

// send writes the envelope: the value under the names of both generations, lists in
// the shape of the one that asks.
func (c *call) send(status int, out any, err error) {
	body := map[string]any{"code": 200, "msg": nil, "content": nil, "data": nil, "success": true}
	if c.generation() == third {
		body["msg"] = "Success"
	}
	if p, ok := out.(page); ok && err == nil {
		if c.generation() == second {
			body = map[string]any{"recordsTotal": p.total, "recordsFiltered": p.total, "data": p.rows}
		} else {
			body["data"] = map[string]any{"offset": 0, "pagesize": 0, "total": p.total, "data": p.rows}
			delete(body, "content")
		}
	} else if err == nil {
		body["content"], body["data"] = out, out
	} else {
		body["code"], body["success"], body["msg"] = 500, false, c.text(err)
	}
	c.w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_ = json.NewEncoder(c.w).Encode(body) // whoever asked may be gone
	}
}

// text says what is wrong, with the names of fields as the calls have them.
func (c *call) text(err error) string {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		if c.r.Context().Err() == nil {
			c.h.Logger.LogAttrs(c.r.Context(), slog.LevelError, "call of the known console failed", slog.String("path", c.r.URL.Path), slog.Any("error", err))
		}
		e = model.Errf(model.CodeUnavailable, "legacy.internal")
	}
	named := *e
	named.Fields = maps.Clone(e.Fields)
	for ours, theirs := range fieldNames() {
		if f, ok := named.Fields[ours]; ok {
			delete(named.Fields, ours)
			named.Fields[theirs] = f
		}
	}
	return c.h.Text(&named)
}

// value gives a parameter under the first of its names that was sent.
func (c *call) value(names ...string) string {
	for _, n := range names {
		if v, ok := c.r.Form[n]; ok && len(v) > 0 {
			return v[0]
		}
	}
	return ""
}

func (c *call) has(name string) bool { return len(c.r.Form[name]) > 0 }

// number gives a whole number, 0 for an empty one, and notes what is none.
func (c *call) number(bad *model.Error, name string) int {
	text := strings.TrimSpace(c.value(name))
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		bad.AddField(name, "field.number")
	}
	return int(n)
}

// id gives the one id that is meant: id, or ids[] with one item.
func (c *call) id() (int64, error) {
	list := c.r.Form["id"]
	for _, name := range []string{"ids[]", "ids"} {
		list = append(list, c.r.Form[name]...)
	}
	if len(list) != 1 {
		return 0, model.Errf(model.CodeInvalid, "legacy.one_id")
	}
	n, err := strconv.ParseInt(strings.TrimSpace(list[0]), 10, 64)
	if err != nil || n <= 0 {
		return 0, model.Errf(model.CodeInvalid, "error.id_range", "Value", list[0])
	}
	return n, nil
}

// shortID is the id of what the wire numbers with 32 bits.
func (c *call) shortID() (int, error) {
	n, err := c.id()
	if err == nil && n > model.MaxID {
		return 0, model.Errf(model.CodeInvalid, "error.id_range", "Value", n)
	}
	return int(n), err
}

func problems(bad *model.Error) error {
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}
