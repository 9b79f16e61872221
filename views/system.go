package views

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// System is what administrators see of the running center.
type System struct {
	Page
	model.System
}

// role says what a node does beside sending its runs.
func (v System) role(n model.Node) string {
	switch {
	case n.State() == model.NodeGone:
		return v.T("dash.center_gone")
	case n.State() == model.NodeStopping:
		return v.T("dash.center_leaving")
	case n.Name == model.Planner(v.Nodes):
		return v.T("dash.center_plans")
	}
	return v.T("system.sends")
}

func (v System) nodeClass(n model.Node) string {
	switch {
	case n.State() == model.NodeGone:
		return "bad"
	case n.State() == model.NodeStopping, n.SickLoops != "":
		return "open"
	}
	return "ok"
}

// beat is when a node beat last, by the clock of the person's page.
func (v System) beat(n model.Node) time.Time {
	return v.Now.Add(-time.Duration(n.SilentMS) * time.Millisecond)
}

// sick names the loops of a node that stand still.
func (v System) sick(n model.Node) string {
	if n.SickLoops == "" {
		return v.T("system.loops_well")
	}
	return v.T("system.loops_sick", "Loops", strings.ReplaceAll(n.SickLoops, ",", ", "))
}

func (v System) loopName(l model.LoopState) string {
	if key := "system.loop." + l.Name; v.L.Has(key) {
		return v.T(key)
	}
	return l.Name
}

func (v System) loopClass(l model.LoopState) string {
	switch {
	case l.Sick:
		return "bad"
	case l.LastOK.IsZero():
		return "off"
	}
	return "ok"
}

// setting says the value of a setting.
func (v System) setting(s model.Setting) string {
	switch {
	case s.Secret && s.Value != "":
		return v.T("system.set")
	case s.Secret:
		return v.T("system.unset")
	case s.Value == "":
		return "–"
	}
	return s.Value
}

func (v System) engine() string {
	names := map[string]string{"sqlite": "SQLite", "mysql": "MySQL"}
	name := names[v.Database.Engine]
	if strings.Contains(strings.ToLower(v.Database.Version), "mariadb") {
		name = "MariaDB"
	}
	return strings.TrimSpace(name + " " + v.Database.Version)
}

// latency is in hundredths of a millisecond.
func (v System) latency() string {
	return strconv.FormatFloat(float64(v.Database.Latency.Microseconds())/1000, 'f', 2, 64) + " ms"
}

func (v System) retention() string {
	return v.keepBoth(v.Keep)
}

func (v System) until() string { return i18n.DateTime(v.Token.PreviousUntil.In(v.Now.Location())) }
