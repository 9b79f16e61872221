package jobs

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// maxAddresses is how many bytes the addresses given for one run may have in all.
const maxAddresses = 255

// RunNow writes a run down that is due at once and returns its id. It works for
// stopped jobs too.
func (s *Service) RunNow(ctx context.Context, actor model.Actor, id int, in RunInput) (int64, error) {
	j, err := s.jobFor(ctx, actor, id, model.LevelOperate, "job.run")
	if err != nil {
		return 0, err
	}
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	addresses, err := s.checkAddresses(ctx, actor, &j, in.Addresses, bad)
	if err != nil {
		return 0, err
	}
	param := j.Param
	if in.Param != nil {
		param = *in.Param
		lines(bad, "param", param, maxParamBytes)
	}
	sharding := checkShard(&j, in.Shard, bad)
	if len(bad.Fields) > 0 {
		return 0, bad
	}
	trigger := in.Trigger
	if trigger == "" {
		trigger = model.TriggerManual
	}
	now := s.Now()
	run := &model.Run{
		GroupID: j.GroupID, JobID: j.ID, Handler: j.Handler, Param: param, RetryLeft: j.RetryCount, Address: addresses, Sharding: sharding,
		TriggerTime: now.Truncate(time.Second), PlannedMS: now.UnixMilli(), Phase: model.PhasePlanned,
		TriggerType: trigger, Owner: s.ringer.Owner(), FireKey: "m:" + rand.Text(),
	}
	runID, err := s.store.InsertRun(ctx, run, now)
	if err != nil && model.CodeOf(err) == "" { // certainly not written
		s.log.Error("a run that was asked for could not be written", "job_id", id, "user", actor.Name, "error", err)
		return 0, &model.Error{Code: model.CodeUnavailable, Key: "error.nothing_changed", Cause: err}
	}
	if err != nil {
		return 0, err
	}
	s.ringer.Nudge()
	s.log.Info("run asked for", "job_id", id, "log_id", runID, "trigger", trigger, "user", actor.Name)
	if trigger != model.TriggerAPI { // the run itself says that the API asked; programs ask often
		s.note(ctx, actor, "job.run", jobThing(&j), nil, runChanges(&j, runID, param, addresses)...)
	}
	return runID, nil
}

// mostShards is how many shards a broadcast may have.
const mostShards = 10_000

// checkShard reads one shard of a broadcast as people count it and gives it as it is
// stored, from 0.
func checkShard(j *model.Job, text string, bad *model.Error) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	if j.Route != model.RouteBroadcast {
		bad.AddField("shard", "field.no_broadcast")
		return ""
	}
	a, b, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(strings.TrimSpace(a))
	of, err2 := strconv.Atoi(strings.TrimSpace(b))
	if err != nil || err2 != nil || n < 1 || of < n || of > mostShards {
		bad.AddField("shard", "field.shard", "Max", mostShards)
		return ""
	}
	return strconv.Itoa(n-1) + "/" + strconv.Itoa(of)
}

// checkAddresses checks the addresses given for one run. Only administrators
// may name one that the executor does not have: the access token goes there.
func (s *Service) checkAddresses(ctx context.Context, actor model.Actor, j *model.Job, text string, bad *model.Error) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	list := checkAddressList(text, bad, "addresses")
	// The column holds the list until one of it is chosen.
	if joined := strings.Join(list, ","); len(joined) > maxAddresses {
		bad.AddField("addresses", "field.addresses_too_long", "Max", maxAddresses)
	}
	g, err := s.store.Group(ctx, j.GroupID)
	if err != nil && (!actor.Admin || model.CodeOf(err) != model.CodeNotFound) {
		return "", err
	}
	for _, a := range list {
		if slices.Contains(g.Draining, a) {
			bad.AddField("addresses", "field.draining", "Value", a)
		}
	}
	if actor.Admin {
		return strings.Join(list, ","), nil
	}
	own := "," + g.AddressList + ","
	for _, a := range list {
		if !strings.Contains(own, ","+a+",") {
			bad.AddField("addresses", "field.foreign_address", "Value", a)
		}
	}
	return strings.Join(list, ","), nil
}

func checkAddressList(text string, bad *model.Error, field string) []string {
	var out []string
	for a := range strings.SplitSeq(strings.NewReplacer("\r", "", "\n", ",").Replace(text), ",") {
		if a = strings.TrimSpace(a); a == "" {
			continue
		}
		if !model.ValidAddress(a) {
			bad.AddField(field, "field.address", "Value", a)
		}
		out = append(out, a)
	}
	return out
}

// ListRuns gives one page of the runs that the actor may see.
func (s *Service) ListRuns(ctx context.Context, actor model.Actor, f model.RunFilter) (RunPage, error) {
	f.Groups = actor.GroupLimit()
	if f.Limit <= 0 || f.Limit > 1000 {
		f.Limit = 25
	}
	var p RunPage
	list, err := s.store.Runs(ctx, f)
	if err != nil {
		return p, err
	}
	more := len(list) > f.Limit
	switch {
	case f.After != 0:
		p.Newer, p.Older = more, true
		if more {
			list = list[1:]
		}
	default:
		p.Older, p.Newer = more, f.Before != 0
		if more {
			list = list[:f.Limit]
		}
	}
	p.Rows = list
	if err := s.nameRuns(ctx, actor, p.Rows); err != nil {
		return p, err
	}
	if p.Groups, err = s.store.Groups(ctx, actor.GroupLimit()); err != nil {
		return p, err
	}
	if f.DueByMS != 0 && f.Text == "" && f.Reason == "" { // else it would count runs that do not match
		if p.Planned, err = s.store.CountPlanned(ctx, f, f.DueByMS, mostPlanned); err != nil {
			return p, err
		}
	}
	if f.JobID != 0 {
		j, err := s.Job(ctx, actor, f.JobID)
		if err != nil && model.CodeOf(err) != model.CodeNotFound {
			return p, err
		}
		p.JobName, p.JobGroup = j.Name, j.GroupID
	}
	return p, nil
}

// mostPlanned is how far planned runs are counted.
const mostPlanned = 10_000

// nameRuns says of which jobs runs are, as far as the actor may know.
func (s *Service) nameRuns(ctx context.Context, actor model.Actor, runs []model.Run) error {
	seen := map[int]bool{}
	var ids []int
	for i := range runs {
		if !seen[runs[i].JobID] {
			seen[runs[i].JobID] = true
			ids = append(ids, runs[i].JobID)
		}
	}
	known, err := s.titles(ctx, actor, ids)
	for i := range runs {
		j := known[runs[i].JobID]
		runs[i].JobName, runs[i].JobGone = j.Name, j.GroupID == 0
	}
	return err
}

// titles gives names, owners and executors of jobs, of deleted ones the name. Jobs that went to
// an executor that the actor does not see are left out: these see what they did before, and
// learn nothing of them now.
func (s *Service) titles(ctx context.Context, actor model.Actor, ids []int) (map[int]model.Job, error) {
	out, err := s.store.JobTitles(ctx, ids)
	maps.DeleteFunc(out, func(_ int, j model.Job) bool { return j.GroupID != 0 && !actor.Sees(j.GroupID) })
	return out, err
}

// Run gives everything about one run that the actor may see.
func (s *Service) Run(ctx context.Context, actor model.Actor, id int64) (RunDetail, error) {
	var d RunDetail
	r, err := s.run(ctx, actor, id)
	if err != nil {
		return d, err
	}
	d.Run = r
	j, err := s.store.Job(ctx, r.JobID)
	switch {
	case err == nil && !actor.Sees(j.GroupID):
		d.Run.JobGone = true // for the actor
	case err == nil:
		d.Job = &j
		d.Run.JobName = j.Name
	case model.CodeOf(err) != model.CodeNotFound:
		return d, err
	default:
		gone, err := s.store.GoneJobs(ctx, []int{r.JobID})
		if err != nil {
			return d, err
		}
		d.Run.JobName, d.Run.JobGone = gone[r.JobID], true
	}
	if g, err := s.store.Group(ctx, r.GroupID); err == nil {
		d.GroupTitle = g.Title
	} else if model.CodeOf(err) != model.CodeNotFound {
		return d, err
	}
	if d.Linked, err = s.store.LinkedRuns(ctx, &r, actor.GroupLimit(), 50); err != nil {
		return d, err
	}
	if err := s.nameRuns(ctx, actor, d.Linked); err != nil {
		return d, err
	}
	if d.Place, d.Of, err = s.store.QueuePlace(ctx, &r, s.now().UnixMilli()); err != nil || d.Job == nil && d.Run.JobName == "" {
		return d, err
	}
	recent, err := s.store.RecentRuns(ctx, []int{r.JobID}, recentPerJob)
	if err != nil {
		return d, err
	}
	d.AverageMS = averageMS(recent[r.JobID])
	return d, s.streak(ctx, &d, recent[r.JobID])
}

// streak adds since when and how often the job fails.
func (s *Service) streak(ctx context.Context, d *RunDetail, recent []model.Run) error {
	of, err := s.store.Streaks(ctx, []int{d.Run.JobID})
	if err != nil || len(of) == 0 || d.Run.Open() || d.Run.HandleCode == model.CodeSuccess {
		return err
	}
	counts, err := s.store.CountFailures(ctx, of, MostFailures)
	d.FailingMS, d.FailingRuns = of[d.Run.JobID].SinceMS, counts[d.Run.JobID]
	for i := range recent {
		if r := &recent[i]; r.HandleCode == model.CodeSuccess && r.FinishedMS > 0 {
			d.SucceededMS = r.FinishedMS
		}
	}
	return err
}

func averageMS(runs []model.Run) int64 {
	var sum, n int64
	for i := range runs {
		if ms := runs[i].DurationMS(); ms >= 0 && runs[i].HandleCode == model.CodeSuccess {
			sum, n = sum+ms, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

func (s *Service) run(ctx context.Context, actor model.Actor, id int64) (model.Run, error) {
	r, err := s.store.Run(ctx, id)
	if err == nil && !actor.Sees(r.GroupID) || model.CodeOf(err) == model.CodeNotFound {
		return model.Run{}, model.Errf(model.CodeNotFound, "error.not_found") // the same for what others may see
	}
	return r, err
}

// runChanges says of a run by hand which one it is, and what was other than the job has it.
func runChanges(j *model.Job, runID int64, param, addresses string) []model.Change {
	out := []model.Change{{Field: "run", New: strconv.FormatInt(runID, 10)}}
	if param != j.Param {
		out = append(out, model.Change{Field: "param", Old: j.Param, New: param})
	}
	if addresses != "" {
		out = append(out, model.Change{Field: "addresses", New: addresses})
	}
	return out
}

// runFor reads a run to do something to it, and notes who may not.
func (s *Service) runFor(ctx context.Context, actor model.Actor, id int64, action string) (model.Run, thing, error) {
	r, err := s.store.Run(ctx, id)
	if model.CodeOf(err) == model.CodeNotFound {
		return r, thing{}, model.Errf(model.CodeNotFound, "error.not_found")
	}
	if err != nil {
		return r, thing{}, err
	}
	named := []model.Run{r}
	err = s.nameRuns(ctx, model.Actor{Admin: true}, named) // the audit has the names of all
	what := thing{model.AuditRun, r.ID, named[0].JobName}
	if err != nil || actor.May(model.LevelOperate, r.GroupID) {
		return r, what, err
	}
	err = forbidden()
	s.note(ctx, actor, action, what, err)
	if !actor.Sees(r.GroupID) {
		err = model.Errf(model.CodeNotFound, "error.not_found")
	}
	return model.Run{}, what, err
}

// ReadLog reads the log of a run from its executor, from a line on (1 = first).
// End is true when the run has its result and nothing more was there to read.
func (s *Service) ReadLog(ctx context.Context, actor model.Actor, runID int64, fromLine int) (model.LogChunk, error) {
	r, err := s.run(ctx, actor, runID)
	if err != nil {
		return model.LogChunk{}, err
	}
	fromLine = max(1, fromLine)
	empty := model.LogChunk{From: fromLine, To: fromLine - 1, End: !r.Open()}
	taken := r.TriggerCode == model.CodeSuccess || r.HandleCode != 0 || r.Phase == model.PhaseUnknown
	if r.Address == "" || !taken {
		return empty, nil
	}
	c, err := s.executors.ReadLog(ctx, r.Address, r.ID, r.TriggerTime, fromLine)
	if err != nil {
		return model.LogChunk{}, &model.Error{Code: model.CodeUnavailable, Key: "error.executor_silent",
			Args: map[string]any{"Address": r.Address}, Cause: err}
	}
	if c.From != fromLine || c.To < fromLine {
		// Nothing new; what comes with it is an explanation, not a line of the log.
		return empty, nil
	}
	c = fromWhole(c)
	if c.To < fromLine {
		return empty, nil
	}
	// Java never says that a log ends; then whoever asks once more gets nothing new.
	c.End = c.End && !r.Open()
	return c, nil
}

// fromWhole mends the answer of clients that ignore the line asked for and
// return the whole log each time, with line numbers that do not fit it: what
// was read before is dropped.
func fromWhole(c model.LogChunk) model.LogChunk {
	lines := strings.SplitAfter(c.Content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == c.To-c.From+1 {
		return c
	}
	c.To = max(len(lines), c.From-1)
	c.Content = strings.Join(lines[min(c.From-1, len(lines)):], "")
	return c
}

// KillRun asks the executor to end a run in progress. The wire can only kill by
// job: runs of the same job that wait on that executor end too.
func (s *Service) KillRun(ctx context.Context, actor model.Actor, id int64) error {
	r, what, err := s.runFor(ctx, actor, id, "run.kill")
	if err != nil {
		return err
	}
	if res := r.Result(); res != model.ResultRunning && res != model.ResultUnknown {
		return model.Errf(model.CodeInvalid, "error.not_running")
	}
	// Noted first: the executor's own report may be faster than ours.
	if ok, err := s.store.MarkKill(ctx, &r); err != nil || !ok {
		if err == nil {
			err = model.Errf(model.CodeInvalid, "error.not_running")
		}
		return err
	}
	if err := s.executors.Kill(ctx, r.Address, r.JobID); err != nil {
		_, merr := s.ringer.Complete(context.WithoutCancel(ctx), []model.Handled{{RunID: id, Reason: model.ReasonKillUntaken}})
		if merr != nil {
			s.log.Error("cannot take back the note of a kill", "log_id", id, "error", merr)
		}
		return &model.Error{Code: model.CodeUnavailable, Key: "error.executor_silent", Args: map[string]any{"Address": r.Address}, Cause: err}
	}
	// Written even when the person has gone meanwhile: the order was taken.
	_, err = s.ringer.Complete(context.WithoutCancel(ctx), []model.Handled{{
		RunID: id, Code: model.CodeFail, Reason: model.ReasonKilled, AtMS: s.Now().UnixMilli(), Said: []model.Said{model.Say("killed_by", "Name", actor.Name)},
	}})
	s.log.Info("run killed", "log_id", id, "job_id", r.JobID, "user", actor.Name)
	s.note(ctx, actor, "run.kill", what, err)
	return err
}

// TakeBackRun ends a run that is planned and not sent yet: asked for by a person or a
// script, a retry, a child, or of a schedule. It is not tried again.
func (s *Service) TakeBackRun(ctx context.Context, actor model.Actor, id int64) error {
	r, what, err := s.runFor(ctx, actor, id, "run.takeback")
	if err != nil {
		return err
	}
	if err := s.store.TakeBack(ctx, id, actor.Name, s.Now()); err != nil {
		return err
	}
	s.log.Info("run taken back", "log_id", id, "job_id", r.JobID, "user", actor.Name)
	s.note(ctx, actor, "run.takeback", what, nil)
	return nil
}
