package views

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Targets is the list of the targets of reports.
type Targets struct {
	Page
	List []model.TargetResult // without figures
}

// TargetForm is the form of one. Values are as they were typed.
type TargetForm struct {
	Page
	ID     int
	Values map[string]string
	Errors map[string]string
	Groups []model.Group
}

// TargetAbout names what a target is about.
func TargetAbout(p Page, t model.TargetResult) string {
	of := t.Of
	switch {
	case t.Scope == model.ScopeTag:
		of = t.Tag
	case t.Scope == model.ScopeAll:
		return p.T("target.scope.all")
	case of == "" && t.Scope == model.ScopeJob:
		of = p.T("runs.job_gone", "ID", t.JobID)
	case of == "":
		of = "#" + itoa(t.GroupID)
	}
	return p.T("target.scope."+t.Scope) + " " + of
}

// targetGoal says what a target asks for.
func targetGoal(p Page, t model.TargetResult) string {
	goal := p.T("num.percent", "N", model.GoalText(t.Goal))
	if t.Timed() {
		return p.T("target.goal_by", "Goal", goal, "By", t.By)
	}
	return p.T("target.goal_of", "Goal", goal)
}

// targetReached is how much was good: of few the numbers; never rounded up.
func targetReached(p Page, t model.TargetResult) string {
	switch {
	case t.Rated <= 0:
		return "–"
	case t.Rated < 20 && t.Timed():
		return p.T("target.of_days", "Part", p.L.Number(t.Good), "Whole", p.L.Number(t.Rated))
	case t.Rated < 20:
		return p.T("report.of", "Part", p.L.Number(t.Good), "Whole", p.L.Number(t.Rated))
	case t.Reached() == model.GoalWhole:
		return p.T("num.percent", "N", "100")
	}
	text := strconv.FormatFloat(float64(t.Reached())/1000, 'f', 3, 64)
	if t.Goal%10 == 0 { // two decimals are enough to compare it with the goal
		text = text[:len(text)-1]
	}
	return p.T("num.percent", "N", text)
}

// targetLeft says what is left of the budget.
func targetLeft(p Page, t model.TargetResult) string {
	kind := "fires"
	if t.Timed() {
		kind = "days"
	}
	switch left := t.Left(); {
	case t.Rated <= 0:
		return p.T("target.nothing")
	case left < 0:
		return p.L.N("target.over."+kind, int(-left))
	case left > 0:
		return p.L.N("target.left."+kind, int(left))
	case t.Lost() > 0:
		return p.T("target.used_up")
	}
	return p.T("target.no_room")
}

// targetState is how a target stands: a mark, which is not told by its colour alone.
func targetState(t model.TargetResult) (state, mark string) {
	switch {
	case t.Rated <= 0:
		return "none", "–"
	case t.Missed():
		return "missed", "✖"
	case t.UsedUp():
		return "used_up", "◐"
	}
	return "good", "✔"
}

const targetBar = 120 // of a picture, how wide the whole budget is

// targetUsed is how long the bar of what is used is.
func targetUsed(t model.TargetResult) string {
	return decimal(min(1, t.Burn()) * targetBar)
}

// targetBurn says how much of the budget is used.
func targetBurn(p Page, t model.TargetResult) string {
	if t.Burn() > 9.99 {
		return p.T("target.burn_all")
	}
	percent := int(100 * t.Burn()) // rounded down: what is missed says so beside it
	return p.T("target.burn", "N", p.T("num.percent", "N", itoa(percent)))
}

// targetRuns lists the fires of a target in the month.
func (v Report) targetRuns(t model.TargetResult) string {
	return v.fireList(v.Month.Format(time.DateOnly), v.Month.AddDate(0, 1, -1).Format(time.DateOnly), model.RunsAll, "", "1",
		"executor", zeroEmpty(t.GroupID), "job", zeroEmpty(t.JobID), "tag", t.Tag)
}

// shownTargets is how many the card names.
const shownTargets = 10

func (v Report) topTargets() []model.TargetResult {
	return v.Targets[:min(len(v.Targets), shownTargets)]
}

func (v Report) targetsNote() string {
	parts := []string{v.T("target.note")}
	if more := len(v.Targets) - shownTargets; more > 0 {
		parts = append(parts, v.L.N("target.more", more))
	}
	return strings.Join(parts, " ")
}

// targetLines are the targets that a mail names: missed ones, and those without a budget.
func (m ReportMail) targetLines() (out []AlarmLine) {
	for _, t := range m.Targets {
		if !t.UsedUp() {
			continue
		}
		out = append(out, AlarmLine{
			Name: plainLine(t.Name, 100), URL: m.SelfURL() + "#targets",
			Detail: m.T("target.mail", "Reached", targetReached(m.Page, t), "Goal", targetGoal(m.Page, t), "Left", targetLeft(m.Page, t)),
		})
	}
	return out
}

func (v TargetForm) action() string {
	if v.ID == 0 {
		return v.URL("/reports/targets")
	}
	return v.URL("/reports/targets/" + itoa(v.ID))
}

func (v TargetForm) field(name string, f Field) Field {
	f.Name, f.Label, f.Value, f.Error = name, v.T("target.field."+name), v.Values[name], v.Errors[name]
	if key := "target.hint." + name; v.L.Has(key) {
		f.Hint = v.T(key)
	}
	return f
}

func (v TargetForm) scopes() (out []Option) {
	for _, s := range []string{model.ScopeAll, model.ScopeExecutor, model.ScopeTag, model.ScopeJob} {
		out = append(out, Option{s, v.T("target.scope." + s)})
	}
	return out
}

func (v TargetForm) groups() []Option {
	out := []Option{{"", "–"}}
	for _, g := range v.Groups {
		out = append(out, Option{itoa(g.ID), g.Title})
	}
	return out
}
