package views

import (
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Executors is the executor list.
type Executors struct {
	Page
	Rows       []ExecutorRow
	Unassigned []ExecutorRow
	Command    string // starts a sample executor for this center
	Text       string // what is searched for
	All        int    // executors without the search
	Whole      int    // the executor whose addresses are all shown
}

// ExecutorRow is one executor or one app name that waits to be added.
type ExecutorRow struct {
	model.Group
	Nodes    []ExecutorNode
	JobCount int
}

// ExecutorNode is one address of an executor, as in jobs.ExecutorNode.
type ExecutorNode struct {
	Address string
	Beat    time.Time
	Alive   bool
	Listed  bool
	Drain   *model.Drain
	Open    int
	Report  *model.Report
	Call    *model.LastCall
}

// FewNodes is how many addresses of an executor are shown when it has more.
const FewNodes = 10

// trouble is how much an address wants to be seen: more is sooner.
func (n ExecutorNode) trouble() int {
	switch {
	case n.failing():
		return 3
	case n.Drain != nil:
		return 2
	case !n.Alive && (!n.Beat.IsZero() || n.Call == nil):
		return 1
	}
	return 0
}

// shown gives the addresses that are drawn: a few, those in trouble first, unless all are
// wanted. One or two more are drawn rather than hidden.
func (v Executors) shown(r ExecutorRow) []ExecutorNode {
	if v.Whole == r.ID && r.ID != 0 || len(r.Nodes) <= FewNodes+2 {
		return r.Nodes
	}
	few := slices.Clone(r.Nodes)
	slices.SortStableFunc(few, func(a, b ExecutorNode) int { return b.trouble() - a.trouble() })
	return few[:FewNodes]
}

// folds reports whether the addresses of an executor are shown in part, or could be.
func (v Executors) folds(r ExecutorRow) bool { return len(r.Nodes) > FewNodes+2 }

func (v Executors) self(whole int) string {
	return v.URL("/executors", "q", v.Text, "addresses", zeroEmpty(whole))
}

// wholeOr is what the link behind the addresses shows next.
func (v Executors) wholeOr(r ExecutorRow) int {
	if v.Whole == r.ID {
		return 0
	}
	return r.ID
}

// failing reports whether the address cannot be called: its last call was tried after its
// last beat, or it has none.
func (n ExecutorNode) failing() bool { return n.Call != nil && n.Call.Failed() }

// dot is the colour of an address.
func (n ExecutorNode) dot() string {
	switch {
	case n.failing():
		return "bad"
	case n.Drain != nil:
		return "missed"
	case n.Alive, n.Beat.IsZero() && n.Call != nil:
		return "ok"
	}
	return "off"
}

// nodeID is the id of the line of an address.
func nodeID(r ExecutorRow, n ExecutorNode) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(n.Address)) // a hash takes everything
	return "node-" + itoa(r.ID) + "-" + strconv.FormatUint(h.Sum64(), 36)
}

// noneTakes reports whether all addresses drain.
func (r ExecutorRow) noneTakes() bool { return len(r.Addresses()) > 0 && len(r.Taking()) == 0 }

// callWord says in one or two words what came of a call.
func callWord(p Page, c *model.LastCall) string {
	reason := c.Reason
	if reason == "" {
		reason = "ok"
	}
	return p.T("exec.call." + reason)
}

// callClass is the colour of it.
func callClass(c *model.LastCall) string {
	switch {
	case c.Reason == "":
		return "ok"
	case c.Failed():
		return "bad"
	}
	return "open"
}

// callText is what was asked, and what was said.
func callText(p Page, c *model.LastCall) string {
	out := p.T("exec.asked."+c.Asked) + " · " + p.L.Millis(c.TookMS)
	if c.Text != "" {
		out += " · " + c.Text
	}
	return out
}

// ExecutorForm is the form of a new or an existing executor.
type ExecutorForm struct {
	Page
	ID      int
	Values  map[string]string
	Errors  map[string]string
	Message string
}

func (v ExecutorForm) field(name, label string) Field {
	f := Field{Name: name, Label: v.T(label), Value: v.Values[name], Error: v.Errors[name]}
	for _, n := range []string{"app_name", "title", "address_type", "address_list"} {
		if v.Errors[n] != "" {
			f.Focus = n == name
			break
		}
	}
	return f
}
