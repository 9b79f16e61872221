package views

import (
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Where a run by hand goes.
const (
	WhereRoute  = "route"  // by the route of the job
	WhereChosen = "chosen" // to one of some addresses of its executor
	WhereOther  = "other"  // to an address that was typed
)

// RunOnce is the form that runs a job by hand.
type RunOnce struct {
	Page
	Once         string // names the form, so that a double click makes one run
	ID           int
	Name         string
	Route        model.RouteStrategy
	Again        int64  // the run that is made once more, 0 = none
	Gone         string // where that one ran, when it cannot be chosen any more
	Param        string
	Params       []UsedParam
	Where        string
	Nodes        []RunNode
	Addresses    string // typed
	Sure         bool   // the person knows the typed address
	Shard        string // of a broadcast, as people count; "" = all
	ShardError   string
	ParamError   string
	ChosenError  string
	AddressError string
	SureError    string
	Message      string
}

// RunNode is an address that can be chosen for a run.
type RunNode struct {
	ExecutorNode
	Chosen bool
	Off    bool // it does not beat, so it cannot be chosen
}

// UsedParam is a parameter of an earlier run by hand.
type UsedParam struct {
	RunID int64
	At    time.Time
	Param string
}

func (v RunOnce) path() string { return v.URL("/jobs/" + itoa(v.ID)) }

func (v RunOnce) heading() string {
	if v.Again != 0 {
		return v.T("runonce.again", "ID", v.Again)
	}
	return v.T("runonce.title")
}

// shortParam is a parameter in one line.
func (v RunOnce) shortParam(s string) string {
	if s == "" {
		return v.T("runonce.param_empty")
	}
	return strings.Join(strings.Fields(s), " ")
}

// focus is the control that the person sees first: what is wrong, else the parameter.
func (v RunOnce) focus(name string) bool {
	switch {
	case v.ParamError != "":
		return name == "param"
	case v.ShardError != "":
		return name == "shard"
	case v.ChosenError != "":
		return name == WhereChosen
	case v.AddressError != "":
		return name == "addresses"
	case v.SureError != "":
		return name == "sure"
	}
	return name == "param"
}

// Shard is a shard as people count it, "2/5"; "" = none.
func Shard(sharding string) string {
	if sharding == "" {
		return ""
	}
	return shard(sharding)
}
