package views

import (
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// Users is the list of accounts.
type Users struct {
	Page
	Rows   []model.User
	Groups []model.Group
}

// userRight is what a user may do with one executor, or "" for all of them.
type userRight struct {
	Title string
	Grant model.Grant
}

// rights gives what a user may do, everywhere first.
func (v Users) rights(u model.User) []userRight {
	r := model.ParseRights(u.Permission, u.Rights)
	var out []userRight
	if r.All.Level > model.LevelNone {
		out = append(out, userRight{v.T("users.all_groups"), r.All})
	}
	for _, g := range v.Groups {
		if x := r.Groups[g.ID]; x.Level > model.LevelNone {
			out = append(out, userRight{g.Title, x})
		}
	}
	return out
}

func levelText(p Page, g model.Grant) string {
	text := p.T("level." + g.Level.String())
	if g.Scripts {
		text += " + " + p.T("level.scripts")
	}
	return text
}

// UserForm is the form of a new or an existing account.
type UserForm struct {
	Page
	ID      int
	Own     bool // the account of the person
	Values  map[string]string
	Levels  map[int]model.Level // by executor
	Groups  []model.Group
	Errors  map[string]string
	Message string
	// Conflict: somebody else changed the account meanwhile.
	Conflict bool
}

func (v UserForm) action() string {
	if v.ID > 0 {
		return v.URL("/users/" + itoa(v.ID))
	}
	return v.URL("/users")
}

// focus reports whether a field is the first with an error, or the first of a new account.
func (v UserForm) focus(name string) bool {
	for _, n := range []string{"name", "password", "role", "groups", "mail", "disabled"} {
		if v.Errors[n] != "" {
			return n == name
		}
	}
	return v.ID == 0 && name == "name"
}

func (v UserForm) roles() []Option {
	out := []Option{{"", v.T("role.by_executor")}}
	for _, l := range model.Levels() {
		out = append(out, Option{l.String(), v.T("role." + l.String())})
	}
	return out
}

func (v UserForm) levels() []Option {
	var out []Option
	for _, l := range model.Levels() {
		out = append(out, Option{l.String(), v.T("level." + l.String())})
	}
	return out
}

// levelOf is what the select of an executor shows: to edit when nothing was chosen yet, as the box of old means it.
func (v UserForm) levelOf(id int) string {
	if l := v.Levels[id]; l > model.LevelNone {
		return l.String()
	}
	return model.LevelEdit.String()
}

func (p Page) languageOptions() []Option {
	return []Option{{"", p.T("users.by_browser")}, {"zh-Hans", p.T("lang.zh-Hans")}, {"zh-Hant", p.T("lang.zh-Hant")}, {"en", p.T("lang.en")}}
}

func (p Page) themeOptions() []Option {
	return []Option{{"", p.T("profile.theme_system")}, {"light", p.T("profile.theme_light")}, {"dark", p.T("profile.theme_dark")}}
}

func (p Page) startOptions() []Option {
	return []Option{{"", p.T("nav.dashboard")}, {"/jobs", p.T("nav.jobs")}, {"/runs", p.T("nav.runs")}}
}

// NewPassword shows a password once, or asks for one.
type NewPassword struct {
	Page
	ID       int
	Name     string
	Password string // to be shown
	Added    bool   // of a new account
	Error    string
}

// Sessions are the logins of one person, or of everybody.
type Sessions struct {
	Page
	Name  string // of the person, "" = everybody
	Rows  []SessionRow
	Users bool // lists are of everybody: names are shown
}

// SessionRow is one login.
type SessionRow struct {
	model.Session
	Name string // of the person
	End  string // where to end it, as a path with the base
}

// Profile is what people choose for themselves.
type Profile struct {
	Page
	Values   map[string]string
	Errors   map[string]string
	Sessions Sessions
}

// agentName makes a short name of what a browser calls itself: the browser and the system.
func agentName(p Page, agent string) string {
	first := func(names [][2]string) string {
		for _, n := range names {
			if strings.Contains(agent, n[0]) {
				return n[1]
			}
		}
		return ""
	}
	browser := first([][2]string{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"MicroMessenger/", "WeChat"}, {"Chrome/", "Chrome"}, {"Version/", "Safari"},
		{"curl/", "curl"}, {"python", "Python"}, {"Python", "Python"}, {"Java/", "Java"}, {"Go-http-client/", "Go"},
	})
	system := first([][2]string{{"Windows", "Windows"}, {"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Mac OS", "macOS"}, {"Linux", "Linux"}})
	parts := slices.DeleteFunc([]string{browser, system}, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return p.T("sessions.unknown_agent")
	}
	return strings.Join(parts, " · ")
}
