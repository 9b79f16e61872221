package jobs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// TimelineBy says what a lane of the timeline is.
type TimelineBy string

// What lanes can be.
const (
	ByJob      TimelineBy = "job"
	ByExecutor TimelineBy = "executor"
	ByAddress  TimelineBy = "address"
)

const (
	timelineRuns   = 10_000 // runs that are read for one picture
	timelineLanes  = 40
	timelineTracks = 4    // bars of one lane above each other
	timelineSteps  = 1000 // the width of the picture in its smallest bars
	timelineBack   = 24 * time.Hour
)

// Timeline is who ran when.
type Timeline struct {
	From, To time.Time
	Lanes    []Lane // the busiest ones first
	More     int    // lanes that are left out
	Runs     int    // that are shown
	Cut      bool   // the period has more runs than are read: the oldest ones are missing
	Groups   []model.Group
	JobName  string // of the chosen job
}

// Lane is a job, an executor or an address with its runs.
type Lane struct {
	GroupID      int
	JobID        int    // of a job
	Title        string // "" = deleted, and nobody knows its name
	Address      string // of an address
	Bars         []Bar
	Tracks       int
	Runs, Failed int
	busyMS       int64
	free         [timelineTracks]int64 // until when each track is taken, epoch ms
}

// Bar is a run, or several of one kind that cannot be told apart at this scale.
type Bar struct {
	FromMS, ToMS int64 // epoch ms, within the period
	Track        int   // 0 is the upper one
	Class        model.Class
	Runs         int
	RunID        int64 // the first of them
}

// TimelineInput chooses what the timeline shows.
type TimelineInput struct {
	From, To time.Time
	By       TimelineBy
	GroupID  int
	JobID    int
}

// Timeline gathers who ran when in a period, as far as the actor may see it.
func (s *Service) Timeline(ctx context.Context, actor model.Actor, in TimelineInput) (Timeline, error) {
	tl := Timeline{From: in.From, To: in.To}
	f := model.RunFilter{Groups: actor.GroupLimit(), GroupID: in.GroupID, JobID: in.JobID, From: in.From, To: in.To, Limit: timelineRuns}
	var err error
	if tl.Groups, err = s.store.Groups(ctx, actor.GroupLimit()); err != nil {
		return tl, err
	}
	if in.JobID != 0 {
		j, err := s.Job(ctx, actor, in.JobID)
		if err != nil && model.CodeOf(err) != model.CodeNotFound {
			return tl, err
		}
		tl.JobName = j.Name
	}
	runs, cut, err := s.store.RunsDuring(ctx, f, timelineBack)
	if err != nil {
		return tl, err
	}
	runs = slices.DeleteFunc(runs, func(r model.Run) bool { return r.Phase == model.PhasePlanned })
	slices.Reverse(runs)
	tl.Runs, tl.Cut = len(runs), cut
	tl.Lanes = lanes(runs, in, s.now().UnixMilli())
	if n := len(tl.Lanes); n > timelineLanes {
		tl.More, tl.Lanes = n-timelineLanes, tl.Lanes[:timelineLanes]
	}
	return tl, s.nameLanes(ctx, actor, &tl, in.By)
}

// nameLanes gives the lanes their titles.
func (s *Service) nameLanes(ctx context.Context, actor model.Actor, tl *Timeline, by TimelineBy) error {
	titles := map[int]string{}
	for _, g := range tl.Groups {
		titles[g.ID] = g.Title
	}
	if by != ByJob {
		for i := range tl.Lanes {
			tl.Lanes[i].Title = titles[tl.Lanes[i].GroupID]
		}
		return nil
	}
	names := make([]model.Run, len(tl.Lanes))
	for i, l := range tl.Lanes {
		names[i].JobID = l.JobID
	}
	err := s.nameRuns(ctx, actor, names)
	for i := range tl.Lanes {
		tl.Lanes[i].Title = names[i].JobName
	}
	return err
}

// lanes sorts runs, oldest first, into lanes, the busiest lane first.
func lanes(runs []model.Run, in TimelineInput, nowMS int64) []Lane {
	type key struct {
		group, job int
		address    string
	}
	step := max(1, in.To.Sub(in.From).Milliseconds()/timelineSteps)
	at := map[key]int{}
	var out []Lane
	for i := range runs {
		r := &runs[i]
		k := key{group: r.GroupID}
		switch in.By {
		case ByJob:
			k.job = r.JobID
		case ByAddress:
			k.address = r.Address
		}
		n, there := at[k]
		if !there {
			n = len(out)
			at[k] = n
			out = append(out, Lane{GroupID: k.group, JobID: k.job, Address: k.address})
		}
		out[n].add(r, in, step, nowMS)
	}
	slices.SortStableFunc(out, func(a, b Lane) int {
		return cmp.Or(cmp.Compare(b.busyMS, a.busyMS), cmp.Compare(b.Runs, a.Runs))
	})
	return out
}

// span is when a run was under way, by the best that is known, epoch ms.
func span(r *model.Run, nowMS int64) (from, to int64) {
	from = cmp.Or(r.SentMS, r.AcceptedMS, r.PlannedMS, r.TriggerTime.UnixMilli())
	switch {
	case r.FinishedMS > 0:
		to = r.FinishedMS
	case r.Open():
		to = nowMS
	case !r.HandleTime.IsZero():
		to = r.HandleTime.UnixMilli()
	}
	return from, max(from, to)
}

// add draws a run into the lane: as a bar of its own where one is seen, else into the bar
// of its kind that is there already.
func (l *Lane) add(r *model.Run, in TimelineInput, step, nowMS int64) {
	from, to := span(r, nowMS)
	from, to = max(from, in.From.UnixMilli()), min(to, in.To.UnixMilli())
	if to < from {
		return
	}
	class := r.Class()
	l.Runs++
	l.busyMS += to - from
	if class == model.ClassFailed {
		l.Failed++
	}
	small := to-from <= 2*step
	near := slices.IndexFunc(l.tail(), func(b Bar) bool {
		return b.Class == class && small && b.ToMS-b.FromMS <= 2*step && from-b.ToMS < step
	})
	track := slices.IndexFunc(l.free[:], func(until int64) bool { return until <= from })
	if near < 0 && track < 0 { // no room
		near = slices.IndexFunc(l.tail(), func(b Bar) bool { return b.Class == class })
		track = slices.Index(l.free[:], slices.Min(l.free[:])) // what is of another kind is seen
	}
	if near >= 0 {
		b := &l.tail()[near]
		b.ToMS = max(b.ToMS, to)
		b.Runs++
		l.free[b.Track] = max(l.free[b.Track], b.ToMS)
		return
	}
	l.Tracks = max(l.Tracks, track+1)
	l.free[track] = max(to, from+step)
	l.Bars = append(l.Bars, Bar{FromMS: from, ToMS: to, Track: track, Class: class, Runs: 1, RunID: r.ID})
}

// tail are the bars that a new one may still touch.
func (l *Lane) tail() []Bar { return l.Bars[max(0, len(l.Bars)-2*timelineTracks):] }
