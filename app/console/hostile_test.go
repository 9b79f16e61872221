package console

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/carillon-scheduler/carillon/model"
)

// kind says what becomes of bad values of a field.
type kind int

const (
	// free is text of people: script tags, emoji and every script are stored as typed.
	free kind = iota
	// strict has a syntax of its own: refused at the field, or stored as typed.
	strict
	// number and choice are refused at the field when they are none.
	number
	choice
	// secret is free text that no answer shows.
	secret
	// beside is not typed by people: the answer is a refusal or ignores it.
	beside
	// meant says what is to be done, or with what: nothing is done when it makes no sense.
	meant
)

type field struct {
	kind kind
	max  int    // characters, bytes of long texts; 0: refused by its syntax, or without a limit of its own
	must bool   // empty is refused
	code bool   // control characters may be meant
	at   string // the field whose message it is, when it is another
	with string // what else is chosen when it counts, in the encoding of forms
}

// typed is one form: what is in it, and where it is drawn.
type typed struct {
	object string // in the path, as in rules
	page   string // with the form whose other fields are sent along
	form   string // what is valid, beside what the page fills in
	fields map[string]field
	setup  string // is sent before
	kept   bool   // what was typed comes back after a login that ended meanwhile
}

// typedForms has one line for each POST route of the table. A route that is not here fails
// the test: whoever adds one says here what its fields are.
func typedForms() map[string]typed {
	user := map[string]field{
		"seen": {kind: meant}, "role": {kind: choice}, "g": {kind: meant}, "level_*": {kind: meant, with: "g=OWN"}, "scripts": {kind: beside},
		"language": {kind: choice}, "theme": {kind: choice}, "start_page": {kind: choice}, "mail": {kind: strict, max: 254}, "disabled": {kind: beside},
	}
	newUser := map[string]field{"name": {kind: strict, max: 50, must: true}, "password": {kind: secret}}
	for name, f := range user {
		if name == "seen" {
			f = field{kind: beside}
		}
		if newUser[name] = f; name == "disabled" {
			delete(newUser, name)
		}
	}
	executor := map[string]field{
		"app_name": {kind: strict, max: 64, must: true}, "title": {kind: free, max: 64, must: true}, "address_type": {kind: choice},
		"address_list": {kind: strict, must: true, with: "address_type=1"},
	}
	oldUser, oldExecutor := user, map[string]field{"app_name": {kind: beside}}
	for name, f := range executor {
		if name != "app_name" {
			oldExecutor[name] = f
		}
	}
	oldUser["name"] = field{kind: beside}
	address, login := map[string]field{"address": {kind: meant}}, map[string]field{
		"name": {kind: beside}, "password": {kind: secret}, "remember": {kind: beside}, "next": {kind: beside}, "kept_path": {kind: beside}, "kept_form": {kind: beside},
	}
	job := map[string]field{
		"group": {kind: choice, must: true}, "name": {kind: free, max: 255, must: true}, "author": {kind: free, max: 64, must: true},
		"alarm_email": {kind: strict, max: 255}, "tags": {kind: strict, max: 64}, "child_ids": {kind: strict}, "schedule_type": {kind: choice},
		"schedule_conf": {kind: strict, max: 128, must: true},
		"zone":          {kind: choice, at: "schedule_conf"}, "seconds": {kind: number, must: true, with: "schedule_type=FIX_RATE"}, "misfire": {kind: choice}, "misfire_after": {kind: number}, "keep_days": {kind: number}, "keep_failed_days": {kind: number},
		"route": {kind: choice}, "block": {kind: choice}, "glue_type": {kind: choice}, "handler": {kind: free, max: 255, must: true},
		"param": {kind: free, max: 65535, code: true}, "timeout": {kind: number}, "retry": {kind: number}, "retry_delay": {kind: number}, "retry_wait": {kind: choice},
		"glue_source": {kind: free, max: 4 << 20, code: true, must: true, with: "glue_type=GLUE_SHELL&glue_remark=first"},
		"glue_remark": {kind: free, max: 100, with: "glue_type=GLUE_SHELL&glue_source=echo"},
		"version":     {kind: meant}, "was": {kind: beside}, "use_cron": {kind: beside}, "resume": {kind: beside}, "take_name": {kind: beside}, "once": {kind: beside},
	}
	oldJob := map[string]field{}
	defer func() { job["version"] = field{kind: beside} }() // there is none yet
	for name, f := range job {
		if name == "glue_source" || name == "glue_remark" || name == "glue_type" {
			f = field{kind: beside} // an edit does not change the run mode
		}
		oldJob[name] = f
	}
	picked := map[string]field{
		"do": {kind: meant}, "id": {kind: meant}, "ids": {kind: beside}, "all": {kind: beside}, "filter": {kind: beside}, "work": {kind: beside},
		"sure": {kind: beside}, "stop": {kind: beside},
	}
	changed := map[string]field{}
	for name, f := range picked {
		changed[name] = f
	}
	for name, f := range map[string]field{"author": {kind: free, max: 64, must: true}, "alarm": {kind: strict, max: 255}, "tag": {kind: strict, max: 64, must: true}, "move": {kind: choice}} {
		f.with = "do=" + name
		changed["value_"+name] = f
	}
	changed["value_untag"] = field{kind: beside}
	list := map[string]field{"list": {kind: meant}, "name": {kind: strict, max: model.MaxFilterName, must: true}, "old": {kind: beside}, "query": {kind: beside}}
	reportMail := map[string]field{
		"name": {kind: free, max: 100, must: true}, "kind": {kind: choice}, "at": {kind: strict, must: true}, "weekday": {kind: meant}, "month_day": {kind: meant}, "zone": {kind: choice}, "language": {kind: choice},
		"to": {kind: strict, must: true}, "executor": {kind: meant}, "owner": {kind: free, max: 64}, "tag": {kind: strict, max: 40}, "only_trouble": {kind: beside}, "off": {kind: beside},
	}
	target := map[string]field{
		"name": {kind: free, max: 100, must: true}, "goal": {kind: strict, must: true}, "by": {kind: strict}, "scope": {kind: choice}, "executor": {kind: beside}, "tag": {kind: strict, max: 40, must: true, with: "scope=tag"},
		"job": {kind: beside}, "off": {kind: beside},
	}
	alarmRule := map[string]field{
		"name": {kind: free, max: 100, must: true}, "scope": {kind: choice}, "executor": {kind: beside}, "tag": {kind: strict, max: 40, must: true}, "job": {kind: beside}, "off": {kind: beside},
		"mails": {kind: strict}, "language": {kind: choice}, "zone": {kind: choice}, "severity": {kind: choice}, "in_a_row": {kind: meant}, "remind": {kind: meant},
		"overrun": {kind: meant}, "overrun_times": {kind: meant}, "late": {kind: meant}, "done_by": {kind: meant}, "out_of": {kind: meant}, "each_attempt": {kind: beside}, "discarded": {kind: beside}, "done_day": {kind: choice},
		"quiet_from": {kind: meant}, "quiet_to": {kind: meant}, "escalate": {kind: meant}, "escalate_to": {kind: strict}, "without": {kind: choice}, "channel": {kind: meant},
	}
	alarmChannel := map[string]field{
		"name": {kind: beside}, "kind": {kind: beside}, "url": {kind: beside}, "secret": {kind: beside}, "disabled": {kind: beside}, "forget": {kind: beside},
	}
	valid := "name=n&author=a&schedule_type=CRON&schedule_conf=0 0 8 * * ?&handler=h&glue_type=BEAN"
	return map[string]typed{
		"POST /link":  {form: "do=x", fields: map[string]field{"do": {kind: meant}}},
		"POST /login": {page: "/login", form: "name=x&password=y", fields: login}, "POST /login/kept": {form: "name=x&password=y", fields: login},
		"POST /logout":      {},
		"POST /preferences": {fields: map[string]field{"lang": {kind: beside}, "theme": {kind: beside}, "next": {kind: beside}}},
		"POST /password": {page: "/password", form: "old=wrong&new=long enough&repeat=long enough", fields: map[string]field{
			"user": {kind: beside}, "old": {kind: secret, must: true}, "new": {kind: secret, must: true}, "repeat": {kind: secret, must: true}}},
		"POST /profile": {page: "/profile", fields: map[string]field{
			"language": {kind: choice}, "theme": {kind: choice}, "start_page": {kind: choice}, "zone": {kind: choice}, "mail": {kind: strict, max: 254}}},
		"POST /profile/sessions/end": {fields: map[string]field{"session": {kind: beside}}},

		"POST /jobs":        {page: "/jobs/new", form: valid + "&group=OWN", fields: job, kept: true},
		"POST /jobs/:id":    {object: "job", page: "/jobs/:id/edit", fields: oldJob, kept: true},
		"POST /jobs/batch":  {object: "job", form: "do=author&value_author=x&id=:id", fields: changed},
		"POST /jobs/import": {}, // a file: TestHostileFiles
		"POST /jobs/:id/code": {object: "script", page: "/jobs/:id/code", form: "glue_source=echo new&glue_remark=second", kept: true, fields: map[string]field{
			"glue_source": {kind: free, max: 4 << 20, code: true, must: true}, "glue_remark": {kind: free, max: 100, must: true}, "version": {kind: meant}, "then": {kind: beside}, "resume": {kind: beside}}},
		"POST /jobs/:id/note": {object: "job", page: "/jobs/:id/note", form: "note=n", kept: true, fields: map[string]field{
			"note": {kind: free, max: 20000, code: true}, "seen": {kind: meant}, "resume": {kind: beside}}},
		"POST /jobs/:id/favourite": {object: "job", form: "on=1", fields: map[string]field{"on": {kind: beside}, "from": {kind: beside}}},
		"POST /jobs/:id/start":     {object: "job", fields: map[string]field{"from": {kind: beside}}}, "POST /jobs/:id/stop": {object: "job", fields: map[string]field{"from": {kind: beside}}},
		"POST /jobs/:id/delete": {object: "job", fields: map[string]field{"from": {kind: beside}}},
		"POST /jobs/:id/run": {object: "job", page: "/jobs/:id/run", kept: true, fields: map[string]field{
			"param": {kind: free, max: 65535, code: true}, "where": {kind: meant}, "address": {kind: strict, with: "where=chosen", at: "address"},
			"addresses": {kind: strict, must: true, with: "where=other&sure=1"}, "sure": {kind: beside}, "from": {kind: beside}, "use": {kind: beside}, "resume": {kind: beside}, "once": {kind: beside}}},

		"POST /filters": {form: "list=jobs&name=x&query=q%3D1", fields: list}, "POST /filters/rename": {form: "list=jobs&old=x&name=y", fields: list, setup: "/filters?list=jobs&name=x&query=q%3D1"},
		"POST /filters/delete": {form: "list=jobs&old=x", fields: map[string]field{"list": {kind: beside}, "old": {kind: beside}, "name": {kind: beside}}},
		"POST /columns":        {form: "list=jobs&column=id", fields: map[string]field{"list": {kind: beside}, "column": {kind: beside}, "next": {kind: beside}}},

		"POST /runs/batch":        {object: "run", form: "do=retry&id=:id", fields: picked},
		"POST /runs/clear":        {form: "kind=1&executor=OWN&before=1", fields: map[string]field{"kind": {kind: meant}, "executor": {kind: meant}, "job": {kind: meant}, "before": {kind: meant}}},
		"POST /runs/:id/kill":     {object: "run"},
		"POST /runs/:id/takeback": {object: "run"},

		"POST /reports/mails":              {page: "/reports/mails/new", form: "name=rNEW&kind=day&at=08:00&to=a@example.org", fields: reportMail},
		"POST /reports/mails/:id":          {object: "report-mail", form: "name=r&kind=day&at=08:00&to=a@example.org", fields: map[string]field{"name": reportMail["name"]}},
		"POST /reports/targets":            {page: "/reports/targets/new", form: "name=tNEW&scope=all&goal=99.5", fields: target},
		"POST /reports/targets/:id":        {object: "target", form: "name=t&scope=all&goal=99.5", fields: map[string]field{"name": target["name"], "goal": target["goal"]}},
		"POST /reports/targets/:id/delete": {object: "target"},
		"POST /reports/mails/:id/delete":   {object: "report-mail"},
		"POST /reports/mails/:id/send":     {object: "report-mail", form: "address=nobody", fields: map[string]field{"address": {kind: beside}}},

		"POST /retention":     {form: "keep_days=7&keep_failed_days=30", fields: map[string]field{"keep_days": {kind: number}, "keep_failed_days": {kind: number}, "sure": {kind: beside}}},
		"POST /retention/run": {},

		"POST /alarms/test":                {form: "address=nobody", fields: map[string]field{"address": {kind: beside}, "channel": {kind: beside}}},
		"POST /alarms/rules":               {page: "/alarms/rules/new", form: "name=rNEW&scope=tag&tag=payNEW&severity=warning&mails=a@example.org", fields: alarmRule},
		"POST /alarms/rules/:id":           {object: "alarm-rule", form: "name=r&scope=tag&tag=payNEW&severity=warning", fields: map[string]field{"name": alarmRule["name"]}},
		"POST /alarms/rules/:id/delete":    {object: "alarm-rule"},
		"POST /alarms/channels":            {form: "name=c&kind=webhook&url=https://example.org/x", fields: alarmChannel},
		"POST /alarms/channels/:id":        {object: "alarm-channel", form: "name=c&kind=webhook&url=https://example.org/x", fields: alarmChannel},
		"POST /alarms/channels/:id/delete": {object: "alarm-channel"},

		"POST /incidents/:id/ack":  {object: "incident"},
		"POST /incidents/:id/mute": {object: "incident", form: "for=1h", fields: map[string]field{"for": {kind: meant}}},
		"POST /incidents/:id/comment": {object: "incident", form: "comment=seen", fields: map[string]field{
			"comment": {kind: free, max: 2000, code: true, must: true}}},

		"POST /executors":           {page: "/executors/new", form: "app_name=new-NEW&title=New&address_type=0", fields: executor, kept: true},
		"POST /executors/adopt":     {form: "app_name=new-NEW", fields: map[string]field{"app_name": {kind: strict, max: 64, must: true}}},
		"POST /executors/:id":       {object: "executor", page: "/executors/:id/edit", fields: oldExecutor, kept: true},
		"POST /executors/:id/ping":  {object: "executor", fields: address},
		"POST /executors/:id/drain": {object: "executor", fields: address}, "POST /executors/:id/take": {object: "executor", fields: address},
		"POST /executors/:id/delete": {object: "executor"},

		"POST /users":     {page: "/users/new", form: "name=newNEW&password=long enough&role=view", fields: newUser, kept: true},
		"POST /users/:id": {object: "user", page: "/users/:id/edit", fields: oldUser, kept: true}, "POST /users/:id/delete": {object: "user"},
		"POST /users/:id/password":     {object: "user", page: "/users/:id/password", form: "password=long enough", fields: map[string]field{"password": {kind: secret}}},
		"POST /users/:id/sessions/end": {object: "user", fields: map[string]field{"session": {kind: beside}}},
	}
}

// hostile is a bad value. What is nice must be stored as typed by fields that are free.
type hostile struct {
	name, value string
	nice        bool
}

func hostileValues(f field) []hostile {
	out := []hostile{
		{"empty", "", false}, {"blanks", "  \t ", false}, {"long", strings.Repeat("z", 70_000), false},
		{"a script", `"'><script>alert(1)</script>`, true}, {"right to left", "שלום עולם مرحبا abc", true}, {"a turned direction", "a\u202eb", false}, {"emoji", "🔔 run 👩‍👩‍👧 ok", true},
		{"a control character", "a\x01b", false}, {"NUL", "a\x00b", false}, {"invalid UTF-8", "a\xff\xfeb", false}, {"cut UTF-8", "a\xe4\xbd", false},
		{"a formula", "=1+1", true},
	}
	if f.max > 0 && f.kind != secret {
		out = append(out, hostile{"just too long", strings.Repeat("y", f.max+1), false})
		if f.max < 5000 {
			out = append(out, hostile{"just fits", strings.Repeat("界", f.max), f.kind == free}, hostile{"one too many", strings.Repeat("界", f.max+1), false})
		}
	}
	if f.kind != free && f.kind != strict && f.kind != secret {
		for _, s := range []string{"-1", "0", "1.5", "1e3", "٣", "2147483648", "9223372036854775807", "9223372036854775808", "99999999999999999999999"} {
			out = append(out, hostile{"number " + s, s, false})
		}
	}
	return out
}

// database is what is stored, without what notes who came.
type database struct {
	t  *testing.T
	db *sql.Conn // one: it knows when others have written

	version int
	read    []string // cells of that version
	all     string
}

func openDatabase(t *testing.T, file string) *database {
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(conn.Close(), db.Close())) })
	return &database{t: t, db: conn}
}

// cells gives all values, and one text of them to compare. They are read when somebody has
// written since.
func (d *database) cells() ([]string, string) {
	var version int
	require.NoError(d.t, d.db.QueryRowContext(d.t.Context(), `PRAGMA data_version`).Scan(&version))
	if version != d.version {
		d.version = version
		d.read = d.readCells()
		d.all = strings.Join(d.read, "\x1f")
	}
	return d.read, d.all
}

func (d *database) readCells() (cells []string) {
	names, err := d.db.QueryContext(d.t.Context(), `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`)
	require.NoError(d.t, err)
	var tables []string
	for names.Next() {
		var name string
		require.NoError(d.t, names.Scan(&name))
		if !slices.Contains([]string{"carillon_audit", "carillon_session"}, name) {
			tables = append(tables, name)
		}
	}
	require.NoError(d.t, names.Close())
	for _, name := range tables {
		rows, err := d.db.QueryContext(d.t.Context(), "SELECT * FROM "+name+" ORDER BY 1")
		require.NoError(d.t, err)
		columns, err := rows.Columns()
		require.NoError(d.t, err)
		for rows.Next() {
			values, to := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				to[i] = &values[i]
			}
			require.NoError(d.t, rows.Scan(to...))
			for i, v := range values {
				if raw, ok := v.([]byte); ok {
					v = string(raw)
				}
				if columns[i] == "last_seen" || columns[i] == "password" && name == "xxl_job_user" { // its hash is made anew by a login
					continue
				}
				cells = append(cells, fmt.Sprint(v))
			}
		}
		require.NoError(d.t, rows.Err())
		require.NoError(d.t, rows.Close())
	}
	return cells
}

// blank is what a browser shows of a text: no NUL, nothing that is no text.
func blank(s string) string {
	s = strings.ToValidUTF8(s, "")
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c == unicode.ReplacementChar || c == 0 || c == '\r' {
			return -1
		}
		return c
	}, s))
}

// controls gives what a form of a page holds, as a browser would send it.
func controls(d *goquery.Document, action string) (url.Values, bool) {
	form := d.Find(`form[action="` + action + `"][method="post"]`)
	out := url.Values{}
	form.Find("input[name], textarea[name], select[name]").Each(func(_ int, s *goquery.Selection) {
		name, _ := s.Attr("name")
		value, _ := s.Attr("value")
		if owner, ok := s.Attr("form"); ok && owner != "" {
			return
		}
		switch kind, _ := s.Attr("type"); {
		case goquery.NodeName(s) == "textarea":
			value = strings.TrimPrefix(s.Text(), "\n")
		case goquery.NodeName(s) == "select":
			chosen := s.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = s.Find("option").First()
			}
			value, _ = chosen.Attr("value")
		case kind == "checkbox" || kind == "radio":
			if _, ok := s.Attr("checked"); !ok {
				if !out.Has(name) {
					out[name] = nil
				}
				return
			}
		case kind == "file":
			return
		}
		out.Add(name, value)
	})
	return out, form.Length() > 0
}

func (f typed) field(name string) (field, bool) {
	if strings.HasPrefix(name, "level_") {
		name = "level_*"
	}
	out, ok := f.fields[name]
	return out, ok
}

// sweep is one form with its town.
type sweep struct {
	*town
	db      *database
	f       typed
	pattern string
	id      string
	n       int
}

func newSweep(t *testing.T, pattern string, f typed) *sweep {
	w := newTown(t)
	return &sweep{town: w, db: openDatabase(t, w.file), f: f, pattern: pattern}
}

// fresh gives a form that would be taken, about an object that nobody has touched.
func (s *sweep) fresh(who string) (path string, form url.Values) {
	if s.id == "" {
		s.id, _ = s.make(s.f.object, s.own)
	}
	put := func(text string) string {
		return strings.NewReplacer(":id", s.id, "OWN", strconv.Itoa(s.own.ID), "NEW", strconv.Itoa(s.n)).Replace(text)
	}
	path, form = put(s.pattern), url.Values{}
	if s.f.page != "" {
		drawn := who
		if strings.HasPrefix(s.pattern, "/login") {
			drawn = "nobody"
		}
		res := s.as(drawn, http.MethodGet, put(s.f.page), "")
		require.Equal(s.t, http.StatusOK, res.StatusCode)
		var ok bool
		form, ok = controls(s.doc(res), path)
		require.True(s.t, ok, "%s has no form to %s", s.f.page, path)
		for name := range form {
			_, known := s.f.field(name)
			assert.True(s.t, known, "%s: the field %s is not in typedForms", s.pattern, name)
		}
	}
	extra, err := url.ParseQuery(put(s.f.form))
	require.NoError(s.t, err)
	for name, values := range extra {
		form[name] = values
	}
	if strings.HasPrefix(s.pattern, "/executors/:id/") && s.f.fields["address"] != (field{}) {
		form.Set("address", s.own.AddressList)
	}
	return path, form
}

var (
	han      = regexp.MustCompile(`\p{Han}`)
	speakers = []string{"root", "root-hans", "root-hant"}
)

// try sends one value and looks what came of it.
func (s *sweep) try(name string, f field, h hostile) {
	s.n++
	who := speakers[s.n%len(speakers)]
	path, form := s.fresh(who)
	with, err := url.ParseQuery(strings.ReplaceAll(f.with, "OWN", strconv.Itoa(s.own.ID)))
	require.NoError(s.t, err)
	for k, v := range with {
		form[k] = v
	}
	form[name] = []string{h.value}
	if s.pattern == "/profile" { // which changes it
		s.as(who, http.MethodPost, "/preferences", "lang="+map[string]string{"root": "en", "root-hans": "zh-Hans", "root-hant": "zh-Hant"}[who])
	}
	if s.f.setup != "" {
		to, form, _ := strings.Cut(s.f.setup, "?")
		s.as(who, http.MethodPost, to, form)
	}
	label := fmt.Sprintf("%s: %s is %s, as %s", s.pattern, name, h.name, who)
	_, before := s.db.cells()
	res := s.as(who, http.MethodPost, path, form.Encode())
	body := text(s.t, res)
	cells, after := s.db.cells()
	if !assert.Contains(s.t, []int{200, 204, 303, 400, 401, 403, 404, 409, 413, 422, 429}, res.StatusCode, label) {
		return
	}
	assert.NotContains(s.t, body, "<script>alert", label)
	if f.kind == secret && len(strings.TrimSpace(h.value)) > 3 {
		assert.NotContains(s.t, body, "alert(1)", label)
	}
	if res.StatusCode >= 400 {
		assert.Equal(s.t, before, after, "%s: refused and done nevertheless", label)
	}
	if before != after {
		s.id = "" // the next one is about another object
	}
	d, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	require.NoError(s.t, err)
	if f.kind == meant && strings.TrimSpace(h.value) != "" && h.name != "number 0" {
		assert.Equal(s.t, before, after, "%s: makes no sense and was done", label)
	}
	if f.kind == beside || f.kind == secret || f.kind == meant {
		return
	}
	empty := strings.TrimSpace(h.value) == ""
	bad := !empty && ((strings.Contains(h.value, "\x00") || strings.Contains(h.value, "\x01") && !f.code) || !strings.Contains(h.name, "fits") && f.max > 0 && len([]rune(h.value)) > f.max || strings.Contains(h.name, "UTF-8")) || empty && f.must
	switch {
	case res.StatusCode == http.StatusRequestEntityTooLarge:
		assert.Greater(s.t, len(h.value), 1<<20, label)
		return
	case res.StatusCode < 400:
		assert.False(s.t, bad, "%s: was taken", label)
		if (f.kind == number || f.kind == choice) && !empty {
			assert.Contains(s.t, cells, strings.TrimSpace(h.value), "%s: was taken and is not what is stored", label)
		}
		if f.kind == free || f.kind == strict {
			assert.True(s.t, empty || contains(cells, blank(h.value)), "%s: was taken and is not what is stored", label)
		}
		return
	}
	assert.Contains(s.t, []int{http.StatusUnprocessableEntity, http.StatusConflict}, res.StatusCode, label)
	if f.kind == free && h.nice {
		assert.Fail(s.t, "refused", "%s: %s", label, d.Find("[data-testid^=error-]").Text())
	}
	at := name
	if f.at != "" {
		at = f.at
	}
	said := strings.TrimSpace(testid(d, "error-"+at).Text())
	if said == "" && at == "name" {
		said = strings.TrimSpace(testid(d, "filter-error").First().Text())
	}
	if assert.NotEmpty(s.t, said, "%s: no message at the field (%s)", label, strings.TrimSpace(d.Find("[role=alert], .invalid-feedback").Text())) {
		words := strings.ReplaceAll(said, strings.TrimSpace(h.value), "")
		if short := []rune(said); len(short) > 2000 {
			assert.Fail(s.t, "the message is as long as what was typed", label)
		}
		if h.value == "" || !han.MatchString(h.value) {
			assert.Equal(s.t, who != "root", han.MatchString(words), "%s: in which language is %q", label, words)
		}
	}
	if f.kind == choice {
		return // what cannot be chosen cannot be shown as chosen
	}
	found := false
	d.Find(`[name="` + name + `"]`).Each(func(_ int, c *goquery.Selection) {
		value, _ := c.Attr("value")
		if goquery.NodeName(c) == "textarea" {
			value = strings.TrimPrefix(c.Text(), "\n")
		}
		found = found || blank(value) == blank(h.value)
	})
	assert.True(s.t, found || name == "address", "%s: what was typed is lost", label)
}

func contains(cells []string, value string) bool {
	return slices.ContainsFunc(cells, func(c string) bool { return strings.Contains(blank(c), value) })
}

// TestEveryFormEveryValue sends bad values in every field of every form.
func TestEveryFormEveryValue(t *testing.T) {
	t.Parallel()
	known, c := typedForms(), newSite(t).c
	for _, r := range c.table() {
		key := r.method + " " + r.path
		if r.method != http.MethodPost {
			continue
		}
		f, ok := known[key]
		if !assert.True(t, ok, "%s: say in typedForms() what its fields are", key) {
			continue
		}
		delete(known, key)
		t.Run(strings.ReplaceAll(r.path, "/", " "), func(t *testing.T) {
			t.Parallel()
			s := newSweep(t, r.path, f)
			for _, name := range sortedKeys(f.fields) {
				fd := f.fields[name]
				if name == "level_*" {
					name = "level_" + strconv.Itoa(s.own.ID)
				}
				for _, h := range hostileValues(fd) {
					s.try(name, fd, h)
				}
			}
		})
	}
	assert.Empty(t, known, "forms of routes that are no more")
}

// TestHugeForms: what is larger than a form can be is refused with a page that says so.
func TestHugeForms(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	for key, f := range typedForms() {
		if len(f.fields) == 0 {
			continue
		}
		id, look := w.make(f.object, w.own)
		before := look()
		path := strings.Replace(strings.TrimPrefix(key, "POST "), ":id", id, 1)
		for _, who := range speakers {
			res := w.as(who, http.MethodPost, path, sortedKeys(f.fields)[0]+"="+strings.Repeat("x", 14<<20))
			assert.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode, key)
			assert.Equal(t, who != "root", han.MatchString(w.doc(res).Find("main").Text()), key)
			assert.Equal(t, before, look(), key)
		}
	}
}

// TestTypedTextsSurviveTheLogin: a login that ended while somebody typed costs nothing.
func TestTypedTextsSurviveTheLogin(t *testing.T) {
	t.Parallel()
	const text = "typed for minutes: <b> & \"quotes\" 界🔔"
	for key, f := range typedForms() {
		pattern := strings.TrimPrefix(key, "POST ")
		t.Run(strings.ReplaceAll(pattern, "/", " "), func(t *testing.T) {
			t.Parallel()
			s := newSweep(t, pattern, f)
			path, form := s.fresh("root")
			var filled []string
			for name, fd := range f.fields {
				if (fd.kind == free || fd.kind == strict) && fd.with == "" && name != "address" {
					form.Set(name, text)
					filled = append(filled, name)
				}
			}
			form.Del("once")
			_, before := s.db.cells()
			for _, htmx := range []string{"", "true"} {
				if strings.HasPrefix(path, "/login") || path == "/preferences" || path == "/logout" || path == linkPath {
					return // nobody need be logged in
				}
				s.cookie = map[string]string{}
				res := s.do(http.MethodPost, path, form, "HX-Request", htmx)
				if !f.kept {
					assert.Contains(t, []int{303, 401}, res.StatusCode)
					assert.Contains(t, res.Header.Get("Location")+res.Header.Get("HX-Redirect"), "/login")
					continue
				}
				d := s.doc(res)
				login, ok := controls(d, "/login/kept")
				require.True(t, ok, "%d: the login page carries nothing", res.StatusCode)
				assert.NotContains(t, login.Get("kept_form"), "password")
				login.Set("name", "root")
				login.Set("password", "wrong")
				login, ok = controls(s.doc(s.do(http.MethodPost, "/login/kept", login)), "/login/kept")
				require.True(t, ok, "a wrong password loses it")
				login.Set("name", "root")
				login.Set("password", password)
				back, ok := controls(s.doc(s.do(http.MethodPost, "/login/kept", login)), path)
				require.True(t, ok, "the login does not lead back")
				res = s.do(http.MethodPost, path, back)
				require.Equal(t, http.StatusOK, res.StatusCode)
				again, ok := controls(s.doc(res), path)
				require.True(t, ok, "the form is not there")
				for _, name := range filled {
					assert.Equal(t, text, again.Get(name), name)
				}
			}
			_, after := s.db.cells()
			assert.Equal(t, before, after, "nothing is saved by it")
		})
	}
}

// TestSentTwice: an impatient double click does it once, and leads to the same page.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"/jobs", "/jobs/:id/run"} {
		s := newSweep(t, key, typedForms()["POST "+key])
		path, form := s.fresh("root")
		require.NotEmpty(t, form.Get("once"), key)
		form.Set("name", "")
		if key == "/jobs" { // a refused one may be sent again
			assert.Equal(t, http.StatusUnprocessableEntity, s.as("root", http.MethodPost, path, form.Encode()).StatusCode)
		}
		form.Set("name", "twice")
		first := s.as("root", http.MethodPost, path, form.Encode())
		assert.Equal(t, http.StatusSeeOther, first.StatusCode, key)
		_, before := s.db.cells()
		for _, again := range []*http.Response{s.as("root", http.MethodPost, path, form.Encode()), s.do(http.MethodPost, path, form, "HX-Request", "true")} {
			assert.Equal(t, first.Header.Get("Location"), again.Header.Get("Location")+again.Header.Get("HX-Redirect"), key)
		}
		_, after := s.db.cells()
		assert.Equal(t, before, after, key)
		// Another person's form of the same name is theirs.
		other := s.as("root-hans", http.MethodPost, path, form.Encode())
		assert.NotEqual(t, first.Header.Get("Location"), other.Header.Get("Location"), key)
	}
}

// TestSentTwiceAtOnce: the second click comes while the first is worked on.
func TestSentTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := newSweep(t, "/jobs", typedForms()["POST /jobs"])
	path, form := s.fresh("root")
	form.Set("name", "at once")
	var all sync.WaitGroup
	led := make([]string, 8)
	for i := range led {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for name, value := range s.sessions["root"] {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		all.Go(func() {
			w := httptest.NewRecorder()
			s.c.ServeHTTP(w, r)
			led[i] = w.Result().Header.Get("Location")
		})
	}
	all.Wait()
	assert.Len(t, slices.Compact(led), 1, led)
	assert.NotEmpty(t, led[0])
	list, _, err := s.st.Jobs(t.Context(), model.JobFilter{Text: "at once", Limit: 10})
	require.NoError(t, err)
	assert.Len(t, list, 1)
}
