package alarm

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// How long something must be wrong before it is one.
const (
	silentFor = time.Minute      // an executor without an address
	goneFor   = 30 * time.Second // a node without a beat
	forgotten = 24 * time.Hour   // nobody misses it any more
	oldRuns   = 48 * time.Hour   // since a pass over old runs came to its end
	oldGrace  = time.Hour        // for the first pass after a time without any center
)

// watch looks at what is wrong beside the jobs: executors without an address whose jobs are
// on, nodes that are gone, loops that stand still; and at what the rules ask to be watched.
func (e *Engine) watch(ctx context.Context, w *Work) error {
	rules, err := e.Store.AlarmRules(ctx)
	if err != nil {
		return err
	}
	w.Rules = rules
	groups, err := e.Store.SilentGroups(ctx)
	if err != nil {
		return err
	}
	since := map[int]time.Time{}
	for _, id := range groups {
		at, seen := e.silent[id]
		if !seen {
			at = w.Now
		}
		if since[id] = at; w.Now.Sub(at) >= silentFor || slices.ContainsFunc(w.Open, func(i model.Incident) bool { return i.Subject == executorSubject(id) }) {
			w.Conditions = append(w.Conditions, Condition{Subject: executorSubject(id), GroupID: id, Reason: model.ReasonNoAddress})
		}
	}
	e.silent = since
	if w.Addressed, err = e.Store.AddressedGroups(ctx, executorsOf(w.Open)); err != nil {
		return err
	}
	nodes, err := e.Store.Nodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.State() != model.NodeAlive {
			w.Away = append(w.Away, n.Name)
		}
		switch n.State() {
		case model.NodeGone:
			if n.SilentMS >= goneFor.Milliseconds() && n.SilentMS < forgotten.Milliseconds() {
				w.Conditions = append(w.Conditions, Condition{Subject: "node:" + n.Name, Reason: model.AlarmNodeGone})
			}
		case model.NodeAlive:
			w.nodeTroubles(&n)
			for name := range strings.SplitSeq(n.SickLoops, ",") {
				if name != "" {
					w.Conditions = append(w.Conditions, Condition{Subject: "loop:" + n.Name + "/" + name, Reason: model.AlarmLoopSick})
				}
			}
		}
	}
	if err := e.overruns(ctx, w); err != nil {
		return err
	}
	if err := e.oldRuns(ctx, w); err != nil {
		return err
	}
	broken, err := e.Store.BrokenJobs(ctx)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(broken)) {
		w.Conditions = append(w.Conditions, Condition{Subject: model.WatchedJob(model.WatchBroken, id), JobID: id, GroupID: broken[id], Reason: model.AlarmBroken})
	}
	if err := e.lates(ctx, w); err != nil {
		return err
	}
	if err := e.deadlines(ctx, w); err != nil {
		return err
	}
	w.Watched = true
	return nil
}

// executorsOf gives the executors that have an open incident of their own.
func executorsOf(open []model.Incident) []int {
	var ids []int
	for _, x := range open {
		if x.Kind() == model.WatchExecutor {
			ids = append(ids, x.GroupID)
		}
	}
	return ids
}

// stillSilent is for passes between two looks: a job that names its addresses itself may succeed
// in one, and its executor has none all the same.
func (e *Engine) stillSilent() []Condition {
	var out []Condition
	for _, id := range slices.Sorted(maps.Keys(e.silent)) {
		out = append(out, Condition{Subject: executorSubject(id), GroupID: id, Reason: model.ReasonNoAddress})
	}
	return out
}

// nodeTroubles takes what a node says is wrong with it. A slow database is one trouble,
// whoever notices it.
func (w *Work) nodeTroubles(n *model.Node) {
	for _, x := range n.Troubles {
		c := Condition{Reason: x.Reason, Detail: model.AlarmDetail{N: x.N}}
		switch x.Reason {
		case model.AlarmDiskFull:
			c.Subject = cutSubject(model.WatchDisk + ":" + n.Name + " " + x.What)
		case model.AlarmDatabaseSlow:
			c.Subject = model.WatchSlow
		case model.AlarmOverCapacity:
			c.Subject = model.WatchCapacity + ":" + n.Name
		default: // of a newer center
			continue
		}
		if !slices.ContainsFunc(w.Conditions, func(o Condition) bool { return o.Subject == c.Subject }) {
			w.Conditions = append(w.Conditions, c)
		}
	}
}

// cutSubject keeps a subject as short as its column.
func cutSubject(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:120])
	}
	return s
}

// oldRuns looks whether old runs are removed.
func (e *Engine) oldRuns(ctx context.Context, w *Work) error {
	if e.began.IsZero() {
		e.began = w.Now
	}
	st, err := e.Store.RetentionState(ctx)
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(w.Open, func(i model.Incident) bool { return i.Subject == model.WatchOldRuns })
	if st.FinishedMS > 0 && w.Now.UnixMilli()-st.FinishedMS > oldRuns.Milliseconds() && (known || w.Now.Sub(e.began) > oldGrace) {
		w.Conditions = append(w.Conditions, Condition{Subject: model.WatchOldRuns, Reason: model.AlarmRetention, Detail: model.AlarmDetail{DueMS: st.FinishedMS}})
	}
	return nil
}
