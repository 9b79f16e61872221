package jobs

import (
	"context"
	"strconv"

	"github.com/carillon-scheduler/carillon/model"
)

func itoa(n int) string { return strconv.Itoa(n) }

// recentPerJob is the length of the strip in the job list.
const recentPerJob = 20

// ListJobs gives one page of the jobs that the actor may see.
func (s *Service) ListJobs(ctx context.Context, actor model.Actor, f model.JobFilter) (JobPage, error) {
	f.Groups = actor.GroupLimit()
	if f.Limit <= 0 || f.Limit > 1000 {
		f.Limit = 25
	}
	f.Offset, f.DueMS = max(0, f.Offset), s.now().UnixMilli()
	var p JobPage
	var list []model.Job
	var err error
	if p.Counts, err = s.store.CountJobs(ctx, f); err != nil {
		return p, err
	}
	known := false
	if p.Total, known = p.Counts.Of(f); known {
		list, err = s.store.JobsOf(ctx, f)
	} else {
		list, p.Total, err = s.store.Jobs(ctx, f)
	}
	if err != nil {
		return p, err
	}
	if p.Groups, err = s.Groups(ctx, actor); err != nil {
		return p, err
	}
	titles := map[int]string{}
	for _, g := range p.Groups {
		titles[g.ID] = g.Title
	}
	if p.Tags, err = s.Tags(ctx, actor); err != nil {
		return p, err
	}
	p.Rows, err = s.jobRows(ctx, actor, list, titles)
	return p, err
}

// Groups gives the executors that the actor may see.
func (s *Service) Groups(ctx context.Context, actor model.Actor) ([]model.Group, error) {
	return s.store.Groups(ctx, actor.GroupLimit())
}

// JobRow gives the line of one job in the list.
func (s *Service) JobRow(ctx context.Context, actor model.Actor, id int) (JobRow, error) {
	j, err := s.Job(ctx, actor, id)
	if err != nil {
		return JobRow{}, err
	}
	groups, err := s.store.Groups(ctx, []int{j.GroupID})
	if err != nil {
		return JobRow{}, err
	}
	titles := map[int]string{}
	for _, g := range groups {
		titles[g.ID] = g.Title
	}
	rows, err := s.jobRows(ctx, actor, []model.Job{j}, titles)
	if err != nil {
		return JobRow{}, err
	}
	return rows[0], nil
}

// jobRows adds to jobs what the list shows of them.
func (s *Service) jobRows(ctx context.Context, actor model.Actor, list []model.Job, titles map[int]string) ([]JobRow, error) {
	ids := make([]int, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	recent, err := s.store.RecentRuns(ctx, ids, recentPerJob)
	if err != nil {
		return nil, err
	}
	marked, err := s.store.Favourites(ctx, actor.UserID, ids)
	if err != nil {
		return nil, err
	}
	failing, err := s.store.Streaks(ctx, ids)
	now := s.now().UnixMilli()
	rows := make([]JobRow, 0, len(list))
	for _, j := range list {
		j.NextMS = nextFire(&j, recent[j.ID], now)
		rows = append(rows, JobRow{Job: j, GroupTitle: titles[j.GroupID], Recent: recent[j.ID], FailingMS: failing[j.ID].SinceMS, Favourite: marked[j.ID]})
	}
	return rows, err
}

// nextFire is the next instant at which people will see the job fire. The
// planner works ahead, so the stored next fire may be the one after it.
func nextFire(j *model.Job, recent []model.Run, now int64) int64 {
	next := j.NextMS
	for i := range recent {
		r := &recent[i]
		if r.Phase == model.PhasePlanned && r.TriggerType == model.TriggerCron && r.PlannedMS >= now && (next == 0 || r.PlannedMS < next) {
			next = r.PlannedMS
		}
	}
	return next
}

// Job reads one job that the actor may see.
func (s *Service) Job(ctx context.Context, actor model.Actor, id int) (model.Job, error) {
	if id <= 0 || id > model.MaxID {
		return model.Job{}, model.Errf(model.CodeNotFound, "error.job_not_found", "ID", id)
	}
	j, err := s.store.Job(ctx, id)
	if err == nil && !actor.Sees(j.GroupID) { // as if there were none
		return model.Job{}, model.Errf(model.CodeNotFound, "error.job_not_found", "ID", id)
	}
	return j, err
}

// JobTo reads a job that the actor wants to do something to, which needs a level; who may not is
// noted under the action.
func (s *Service) JobTo(ctx context.Context, actor model.Actor, id int, level model.Level, action string) (model.Job, error) {
	return s.jobFor(ctx, actor, id, level, action)
}

// jobFor reads a job to do something to it, and notes who may not.
func (s *Service) jobFor(ctx context.Context, actor model.Actor, id int, level model.Level, action string) (model.Job, error) {
	if id <= 0 || id > model.MaxID {
		return s.Job(ctx, actor, id)
	}
	j, err := s.store.Job(ctx, id)
	if err != nil || actor.May(level, j.GroupID) {
		return j, err
	}
	err = forbidden()
	s.note(ctx, actor, action, jobThing(&j), err)
	if !actor.Sees(j.GroupID) { // as if there were none
		err = model.Errf(model.CodeNotFound, "error.job_not_found", "ID", id)
	}
	return model.Job{}, err
}

// AddJob creates a stopped job and returns its id.
func (s *Service) AddJob(ctx context.Context, actor model.Actor, in JobInput) (int, error) {
	j, err := s.checkJob(ctx, actor, in, nil)
	if err != nil {
		s.note(ctx, actor, "job.add", thing{model.AuditJob, 0, in.Name}, err)
		return 0, err
	}
	now := s.Now()
	j.AddTime, j.UpdateTime, j.GlueUpdateTime, j.GlueAuthor = now, now, now, actor.Name
	id, err := s.store.InsertJob(ctx, j)
	if err == nil {
		s.log.Info("job added", "job_id", id, "user", actor.Name)
		j.ID = id
		s.note(ctx, actor, "job.add", jobThing(j), nil)
	}
	return id, err
}

// UpdateJob changes a job. Its status and run mode stay. When the schedule of a
// running job changes, the planned runs of the old one are cancelled and the
// new one begins at once.
func (s *Service) UpdateJob(ctx context.Context, actor model.Actor, id int, in JobInput) error {
	old, err := s.jobFor(ctx, actor, id, model.LevelEdit, "job.edit")
	if err != nil {
		return err
	}
	if in.Version != old.Version {
		return model.Errf(model.CodeConflict, "error.conflict")
	}
	j, err := s.checkJob(ctx, actor, in, &old)
	if err != nil {
		s.note(ctx, actor, "job.edit", jobThing(&old), err)
		return err
	}
	now := s.Now()
	j.Version, j.UpdateTime, j.GlueUpdateTime = old.Version, now, old.GlueUpdateTime
	newSource := j.GlueType.IsScript() && j.GlueSource != old.GlueSource
	if newSource {
		j.GlueUpdateTime, j.GlueAuthor = nextSourceTime(&old, now), actor.Name
	}
	schedule := j.ScheduleType != old.ScheduleType || j.ScheduleConf != old.ScheduleConf
	// What was planned for all addresses is not what one address gets, and the other way round.
	spread := (j.Route == model.RouteBroadcast) != (old.Route == model.RouteBroadcast)
	reschedule := old.Status == model.JobRunning && (schedule || spread)
	if reschedule {
		if j.NextMS, err = s.firstFire(j, now); err != nil {
			return err
		}
		if !schedule && j.ScheduleType == model.ScheduleFixRate {
			j.NextMS = inPhase(old.NextMS, j.NextMS, now.Add(startLead).UnixMilli(), j.ScheduleConf)
		}
	}
	if err := s.store.UpdateJob(ctx, j, reschedule, newSource, now); err != nil {
		return err
	}
	s.log.Info("job changed", "job_id", id, "user", actor.Name, "rescheduled", reschedule)
	s.note(ctx, actor, "job.edit", jobThing(j), nil, jobChanges(&old, j)...)
	return nil
}

// inPhase gives the first fire of a fixed rate at or after least that keeps the
// phase of a known fire; fresh is taken when there is none.
func inPhase(known, fresh, least int64, conf string) int64 {
	sec, err := strconv.ParseInt(conf, 10, 64)
	if known == 0 || err != nil || sec <= 0 {
		return fresh
	}
	step := sec * 1000
	if known < least {
		return known + (least-known+step-1)/step*step
	}
	return known - (known-least)/step*step
}

// DeleteJob removes a job. Its planned runs are cancelled; runs that were made
// stay until the retention ends them.
func (s *Service) DeleteJob(ctx context.Context, actor model.Actor, id int) error {
	j, err := s.jobFor(ctx, actor, id, model.LevelEdit, "job.delete")
	if err != nil {
		return err
	}
	err = s.store.DeleteJob(ctx, id, s.Now())
	if err == nil {
		s.log.Info("job deleted", "job_id", id, "user", actor.Name)
		s.note(ctx, actor, "job.delete", jobThing(&j), nil)
	}
	return err
}

// StartJob switches a job on; it fires from its next instant on. One that runs goes
// on as it is.
func (s *Service) StartJob(ctx context.Context, actor model.Actor, id int) error {
	return s.setStatus(ctx, actor, id, model.JobRunning)
}

// StopJob switches a job off and cancels what was planned. Runs that executors
// have go on. Stopping a stopped job is no error.
func (s *Service) StopJob(ctx context.Context, actor model.Actor, id int) error {
	return s.setStatus(ctx, actor, id, model.JobStopped)
}

// statusTries is how often a switch is tried against others who save the job at
// the same moment: the wish is plain, so it is done on what they saved.
const statusTries = 5

func (s *Service) setStatus(ctx context.Context, actor model.Actor, id int, status model.JobStatus) error {
	var err error
	action := "job.stop"
	if status == model.JobRunning {
		action = "job.start"
	}
	for range statusTries {
		var j model.Job
		if j, err = s.jobFor(ctx, actor, id, model.LevelOperate, action); err != nil {
			return err
		}
		if status == model.JobRunning && j.Status == model.JobRunning && j.NextMS != 0 {
			return nil // anew it would lose its phase and the fire that is next
		}
		now, next := s.Now(), int64(0)
		if status == model.JobRunning {
			if next, err = s.firstFire(&j, now); err != nil {
				return err
			}
		}
		err = s.store.SetJobStatus(ctx, id, j.Version, status, next, now)
		if model.CodeOf(err) == model.CodeConflict {
			continue
		}
		if err == nil {
			s.log.Info("job switched", "job_id", id, "running", status == model.JobRunning, "user", actor.Name)
			s.note(ctx, actor, action, jobThing(&j), nil)
		}
		return err
	}
	return err
}
