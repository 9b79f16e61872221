package views

import (
	"hash/fnv"
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
