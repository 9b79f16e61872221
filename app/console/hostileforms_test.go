package console

import (
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
