package jobs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const (
	stripRuns    = 100 // runs in the strip of the job page
	lastRuns     = 8   // runs with what happened
	waitingShown = 10
	nextFires    = 5
	mostLinked   = 50 // parents that are named
	mostCounted  = 100_000
	paramsShown  = 5 // parameters that are offered again
	handRunsRead = 50
)

// JobDetail gathers the page of one job that the actor may see.
func (s *Service) JobDetail(ctx context.Context, actor model.Actor, id int) (JobDetail, error) {
	var d JobDetail
	var err error
	if d.Job, err = s.Job(ctx, actor, id); err != nil {
		return d, err
	}
	now := s.now().UnixMilli()
	if d.Group, err = s.store.Group(ctx, d.Job.GroupID); err != nil && model.CodeOf(err) != model.CodeNotFound {
		return d, err
	}
	if d.Recent, err = s.store.LatestRuns(ctx, id, stripRuns); err != nil {
		return d, err
	}
	if d.Streak, err = s.failures(ctx, id, d.Recent); err != nil {
		return d, err
	}
	var ids []int64
	for i := len(d.Recent) - 1; i >= 0 && len(ids) < lastRuns; i-- {
		ids = append(ids, d.Recent[i].ID)
	}
	if d.Last, err = s.store.RunsWithTexts(ctx, ids); err != nil {
		return d, err
	}
	if d.Waiting, err = s.store.WaitingRuns(ctx, id, now, waitingShown); err != nil {
		return d, err
	}
	open, err := s.store.Incidents(ctx, model.IncidentFilter{JobID: id, Open: true, Limit: 1})
	if err != nil {
		return d, err
	}
	if len(open) > 0 {
		d.Incident = &open[0]
	}
	d.Fires, d.FireZone = s.nextFires(&d.Job, d.Waiting.Runs, now)
	d.Nodes, err = s.jobNodes(ctx, &d.Group)
	return d, err
}

// failing counts how often a job has failed since it was well, with its last failure (nil
// when that is not kept any more). 0 = it is well.
func (s *Service) failing(ctx context.Context, id int, since *model.Streak) (fires int, last *model.Run, err error) {
	of, err := s.store.Streaks(ctx, []int{id})
	if err != nil || len(of) == 0 {
		return 0, nil, err
	}
	*since = of[id]
	counts, err := s.store.CountFailures(ctx, of, MostFailures)
	if err != nil {
		return 0, nil, err
	}
	runs, err := s.store.LastFailures(ctx, of)
	return max(1, counts[id]), runs[id], err
}

// failures says since when the job fails, as the lists and the dashboard do, and when it
// last did not: among the runs that were read anyway, oldest first, or further back.
func (s *Service) failures(ctx context.Context, id int, recent []model.Run) (f model.Failures, err error) {
	fires, last, err := s.failing(ctx, id, &f.Streak)
	if err != nil || fires == 0 {
		return f, err
	}
	f.Fires, f.More = fires, fires >= MostFailures
	if last != nil { // else the retention was faster
		f.Last = *last
	}
	for _, r := range slices.Backward(recent) {
		if r.Class() == model.ClassSucceeded {
			f.LastSuccess = r
			return f, nil
		}
	}
	if len(recent) == stripRuns {
		f.LastSuccess, err = s.store.SuccessBefore(ctx, id, recent[0].ID)
	}
	return f, err
}

// nextFires gives the next instants of a running job, those that are planned already
// included, in the zone of its schedule.
func (s *Service) nextFires(j *model.Job, planned []model.Run, now int64) (fires []time.Time, zone string) {
	if j.Status != model.JobRunning || j.NextMS == 0 {
		return nil, ""
	}
	sched, err := parse(j.ScheduleType, j.ScheduleConf)
	if err != nil {
		return nil, "" // quarantined as soon as it is planned
	}
	next := time.UnixMilli(j.NextMS).In(s.loc)
	loc := s.loc
	if after := sched.Next(next); !after.IsZero() {
		loc = after.Location()
	}
	for _, r := range planned {
		if r.TriggerType == model.TriggerCron && r.PlannedMS >= now && r.PlannedMS < j.NextMS {
			fires = append(fires, time.UnixMilli(r.PlannedMS).In(loc))
		}
	}
	slices.SortFunc(fires, time.Time.Compare)
	fires = slices.CompactFunc(fires, time.Time.Equal) // shards
	for at := next.In(loc); !at.IsZero() && len(fires) < nextFires; at = sched.Next(at) {
		fires = append(fires, at)
	}
	return fires[:min(len(fires), nextFires)], loc.String()
}

// jobNodes gives the addresses of an executor with their beats, living ones first.
func (s *Service) jobNodes(ctx context.Context, g *model.Group) ([]ExecutorNode, error) {
	if g.ID == 0 {
		return nil, nil
	}
	regs, err := s.store.AppRegistrations(ctx, g.AppName)
	if err != nil {
		return nil, err
	}
	var nodes []ExecutorNode
	for _, r := range regs {
		nodes = append(nodes, s.registered(&r))
	}
	nodes = addressBook{}.fill(g, nodes)
	slices.SortStableFunc(nodes, func(a, b ExecutorNode) int {
		return cmp.Or(order(!a.Alive)-order(!b.Alive), cmp.Compare(a.Address, b.Address))
	})
	return nodes, nil
}

func order(last bool) int {
	if last {
		return 1
	}
	return 0
}

// JobRelatives gives the jobs that start one and those that it starts, as far as the
// actor may see them. Children that the actor may not see, or that are gone, are
// answered by their ids only.
func (s *Service) JobRelatives(ctx context.Context, actor model.Actor, j model.Job) (rel Relatives, err error) {
	if rel.Parents, err = s.store.ParentJobs(ctx, j.ID, actor.GroupLimit(), mostLinked); err != nil {
		return rel, err
	}
	ids, err := model.ChildIDList(j.ChildIDs)
	if err != nil || len(ids) == 0 {
		return rel, nil // a text that another program wrote, or nothing
	}
	list, err := s.store.JobsBrief(ctx, ids)
	for _, id := range ids {
		i := slices.IndexFunc(list, func(c model.Job) bool { return c.ID == id && actor.Sees(c.GroupID) })
		if i < 0 {
			rel.Children = append(rel.Children, model.Job{ID: id})
			continue
		}
		rel.Children = append(rel.Children, list[i])
	}
	return rel, err
}

// JobEnd says what deleting a job would do.
func (s *Service) JobEnd(ctx context.Context, actor model.Actor, id int) (JobEnd, error) {
	var e JobEnd
	var err error
	if e.Job, err = s.Job(ctx, actor, id); err != nil {
		return e, err
	}
	if e.Relatives, err = s.JobRelatives(ctx, actor, e.Job); err != nil {
		return e, err
	}
	if e.Runs, err = s.store.CountRunsOf(ctx, id, mostCounted); err != nil {
		return e, err
	}
	w, err := s.store.WaitingRuns(ctx, id, s.now().UnixMilli(), 1)
	e.RunsMore, e.Planned = e.Runs == mostCounted, w.Total
	if err != nil {
		return e, err
	}
	keep, err := s.Keeping(ctx)
	if days := keep.Longest(); days > 0 {
		// The newest run goes with its day. Its job's own days go with the job.
		e.RunsUntil = model.DayStart(s.Now(), int(days)+1)
	}
	return e, err
}

// RunChoices gives what a run by hand may be given: the addresses of the executor and
// the newest different parameters of such runs.
func (s *Service) RunChoices(ctx context.Context, actor model.Actor, id int) (RunChoices, error) {
	var c RunChoices
	j, err := s.Job(ctx, actor, id)
	if err != nil {
		return c, err
	}
	g, err := s.store.Group(ctx, j.GroupID)
	if err != nil && model.CodeOf(err) != model.CodeNotFound {
		return c, err
	}
	if c.Nodes, err = s.jobNodes(ctx, &g); err != nil {
		return c, err
	}
	c.Typed = g.AddressType == model.AddressManual
	runs, err := s.store.HandRuns(ctx, id, handRunsRead)
	for _, r := range runs {
		known := slices.ContainsFunc(c.Params, func(p UsedParam) bool { return p.Param == r.Param })
		if !known && len(c.Params) < paramsShown {
			c.Params = append(c.Params, UsedParam{RunID: r.ID, At: r.TriggerTime, Param: r.Param})
		}
	}
	return c, err
}
