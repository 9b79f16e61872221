package jobs

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

// Limits of fields. Texts are counted in characters as MySQL does, TEXT columns
// in bytes.
const (
	maxParamBytes  = 65535
	maxSourceBytes = 4 << 20 // executors refuse requests over 5 MiB
	maxRetries     = 9999
	maxMisfireSec  = 86400
	maxChildDepth  = 10000 // jobs looked at while searching for a cycle
)

// checkJob turns the input into a job, or says field by field what is wrong.
// old is the stored job of an edit, nil for a new one.
func (s *Service) checkJob(ctx context.Context, actor model.Actor, in JobInput, old *model.Job) (*model.Job, error) {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if in.Unread != nil {
		bad.Fields = maps.Clone(in.Unread.Fields)
	}
	j := &model.Job{
		GroupID: in.GroupID, Name: strings.TrimSpace(in.Name), Author: strings.TrimSpace(in.Author),
		AlarmEmail: strings.TrimSpace(in.AlarmEmail), ScheduleType: in.ScheduleType, ScheduleConf: strings.TrimSpace(in.ScheduleConf),
		Misfire: in.Misfire, Route: in.Route, Handler: strings.TrimSpace(in.Handler), Param: in.Param, Block: in.Block,
		TimeoutSec: in.TimeoutSec, RetryCount: in.RetryCount, RetryDelaySec: in.RetryDelaySec, RetryGrowing: in.RetryGrowing,
		MisfireAfterSec: in.MisfireAfterSec, Keep: model.Keep{Succeeded: in.KeepDays, Failed: in.KeepFailedDays}, GlueType: in.GlueType, GlueSource: in.GlueSource,
		GlueRemark: strings.TrimSpace(in.GlueRemark), Tags: checkTags(in.Tags, bad),
	}
	if old != nil {
		if in.GlueType != "" && in.GlueType != old.GlueType {
			bad.AddField("glue_type", "field.fixed", "Value", string(old.GlueType))
		}
		j.ID, j.GlueType, j.Status = old.ID, old.GlueType, old.Status
	}
	if err := s.checkGroup(ctx, actor, j.GroupID, bad); err != nil {
		return nil, err
	}
	line(bad, "name", j.Name, 255, true)
	line(bad, "author", j.Author, 64, true)
	checkMail(bad, j.AlarmEmail)
	s.checkSchedule(j, old, bad)
	known(bad, "misfire", string(j.Misfire), j.Misfire.Known())
	known(bad, "route", string(j.Route), j.Route.Known())
	known(bad, "block", string(j.Block), j.Block.Known())
	known(bad, "glue_type", string(j.GlueType), j.GlueType.Known())
	if j.GlueType.IsScript() {
		j.Handler = ""
		s.checkSource(j, old, bad)
		// A script is a right of its own, and another executor runs it with other powers.
		newScript := old == nil || j.GlueSource != old.GlueSource || j.GroupID != old.GroupID
		if newScript && actor.May(model.LevelEdit, j.GroupID) && !actor.Scripts(j.GroupID) {
			bad.AddField("glue_source", "field.no_scripts")
		}
	} else {
		j.GlueSource, j.GlueRemark = "", ""
		line(bad, "handler", j.Handler, 255, true)
	}
	lines(bad, "param", j.Param, maxParamBytes)
	between(bad, "timeout", j.TimeoutSec, math.MaxInt32)
	between(bad, "retry", j.RetryCount, maxRetries)
	between(bad, "retry_delay", j.RetryDelaySec, model.MaxRetryDelaySec)
	between(bad, "misfire_after", j.MisfireAfterSec, maxMisfireSec)
	keepRange(bad, "keep_days", j.Keep.Succeeded)
	keepRange(bad, "keep_failed_days", j.Keep.Failed)
	if err := s.checkChildren(ctx, actor, j, in.ChildIDs, old, bad); err != nil {
		return nil, err
	}
	if len(bad.Fields) > 0 {
		return nil, bad
	}
	return j, nil
}

// checkTags gives the tags as they are stored.
func checkTags(text string, bad *model.Error) string {
	if !utf8.ValidString(text) { // in lower case it would be
		bad.AddField("tags", "field.control_chars")
		return ""
	}
	tags := model.TagList(text)
	if len(tags) > model.MaxTags {
		bad.AddField("tags", "field.too_many_tags", "Max", model.MaxTags, "Count", len(tags))
	}
	for _, tag := range tags {
		line(bad, "tags", tag, model.MaxTagLength, true)
	}
	return model.JoinTags(tags)
}

func (s *Service) checkGroup(ctx context.Context, actor model.Actor, id int, bad *model.Error) error {
	if id <= 0 {
		bad.AddField("group", "field.required")
		return nil
	}
	if id > model.MaxID {
		bad.AddField("group", "field.range", "Min", 1, "Max", model.MaxID)
		return nil
	}
	if !actor.Sees(id) {
		bad.AddField("group", "field.not_found")
		return nil
	}
	if !actor.May(model.LevelEdit, id) {
		bad.AddField("group", "field.no_edit")
		return nil
	}
	_, err := s.store.Group(ctx, id)
	if model.CodeOf(err) == model.CodeNotFound {
		bad.AddField("group", "field.not_found")
		return nil
	}
	return err
}

// checkSchedule is strict about what is new. What is stored already and was not
// touched may stay sloppy, so that an old job can be edited.
func (s *Service) checkSchedule(j *model.Job, old *model.Job, bad *model.Error) {
	known(bad, "schedule_type", string(j.ScheduleType), j.ScheduleType.Known())
	if j.ScheduleType == model.ScheduleNone {
		j.ScheduleConf = ""
		return
	}
	if !j.ScheduleType.Known() {
		return
	}
	if j.ScheduleConf == "" {
		bad.AddField("schedule_conf", "field.required")
		return
	}
	if utf8.RuneCountInString(j.ScheduleConf) > 128 {
		bad.AddField("schedule_conf", "field.too_long", "Max", 128)
		return
	}
	if old != nil && old.ScheduleType == j.ScheduleType && old.ScheduleConf == j.ScheduleConf {
		return
	}
	sched, err := parse(j.ScheduleType, j.ScheduleConf)
	if err != nil {
		key, args := cronKey(err)
		bad.Fields = setField(bad.Fields, "schedule_conf", model.FieldError{Key: key, Args: args})
		return
	}
	if sched.Next(s.Now()).IsZero() {
		bad.AddField("schedule_conf", "field.never_fires")
	}
}

func setField(m map[string]model.FieldError, name string, e model.FieldError) map[string]model.FieldError {
	if m == nil {
		m = map[string]model.FieldError{}
	}
	m[name] = e
	return m
}

// parse reads a schedule strictly.
func parse(t model.ScheduleType, conf string) (cron.Schedule, error) {
	if t == model.ScheduleFixRate {
		return cron.ParseFixedRate(conf)
	}
	return cron.Parse(conf)
}

// cronKey gives the translation key of a parse error; the field it complains
// about travels as argument Field.
func cronKey(err error) (string, map[string]any) {
	e, ok := errors.AsType[*cron.ParseError](err)
	if !ok {
		return "field.schedule", nil
	}
	args := map[string]any{"Field": e.Field}
	for k, v := range e.Args {
		args[k] = v
	}
	return e.Key, args
}

func (s *Service) checkSource(j *model.Job, old *model.Job, bad *model.Error) {
	if j.GlueType == model.GlueShell {
		j.GlueSource = strings.ReplaceAll(j.GlueSource, "\r", "") // bash takes it for part of a word
	}
	if strings.TrimSpace(j.GlueSource) == "" {
		bad.AddField("glue_source", "field.required")
	} else {
		lines(bad, "glue_source", j.GlueSource, maxSourceBytes)
	}
	if j.GlueRemark == "" && old != nil && old.GlueSource == j.GlueSource {
		j.GlueRemark = old.GlueRemark
	}
	line(bad, "glue_remark", j.GlueRemark, 100, false)
}

// checkChildren wants ids of existing jobs that the actor may see and that do
// not lead back to this job. A child that the job has already may stay.
func (s *Service) checkChildren(ctx context.Context, actor model.Actor, j *model.Job, text string, old *model.Job, bad *model.Error) error {
	ids, err := model.ChildIDList(text)
	if err != nil {
		e, _ := errors.AsType[*model.Error](err)
		bad.AddField("child_ids", e.Key, "Value", e.Args["Value"])
		return nil
	}
	if len(ids) == 0 {
		return nil
	}
	direct, err := s.store.JobsByID(ctx, ids)
	if err != nil {
		return err
	}
	var had []int
	if old != nil {
		had, _ = model.ChildIDList(old.ChildIDs) // what cannot be read gives no right
	}
	var names []string
	for _, id := range ids {
		child, ok := direct[id]
		if !ok || !actor.May(model.LevelOperate, child.GroupID) && !slices.Contains(had, id) {
			bad.AddField("child_ids", "error.child_missing", "ID", id)
		}
		names = append(names, itoa(id))
	}
	j.ChildIDs = strings.Join(names, ",")
	if utf8.RuneCountInString(j.ChildIDs) > 255 {
		bad.AddField("child_ids", "field.too_long", "Max", 255)
	}
	return s.checkCycle(ctx, j, direct, bad)
}

// checkCycle follows the children's children, level by level.
func (s *Service) checkCycle(ctx context.Context, j *model.Job, level map[int]model.Job, bad *model.Error) error {
	seen := map[int]bool{}
	for len(level) > 0 && len(seen) < maxChildDepth {
		var next []int
		for id, child := range level {
			if id == j.ID {
				bad.AddField("child_ids", "error.child_cycle", "ID", id)
				return nil
			}
			seen[id] = true
			more, _ := model.ChildIDList(child.ChildIDs)
			for _, m := range more {
				if !seen[m] {
					next = append(next, m)
				}
			}
		}
		var err error
		if level, err = s.store.JobsByID(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// line checks a text of one line: length in characters, no control characters.
func line(bad *model.Error, field, text string, limit int, required bool) {
	switch {
	case text == "" && required:
		bad.AddField(field, "field.required")
	case utf8.RuneCountInString(text) > limit:
		bad.AddField(field, "field.too_long", "Max", limit)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || strings.ContainsAny(text, turning):
		bad.AddField(field, "field.control_chars")
	}
}

// turning are the characters that turn the direction of what follows them, also of words
// that are not theirs. Right-to-left writing needs none of them.
const turning = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

// lines checks a text of many lines: length in bytes. Control characters may be meant, but
// no page, and not every executor, can hold a NUL.
func lines(bad *model.Error, field, text string, limit int) {
	switch {
	case len(text) > limit:
		bad.AddField(field, "field.too_long", "Max", limit)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		bad.AddField(field, "field.control_chars")
	}
}

func known(bad *model.Error, field, value string, ok bool) {
	if !ok {
		bad.AddField(field, "field.unknown_value", "Value", value)
	}
}

// keepRange checks a number of days.
func keepRange(bad *model.Error, field string, k model.KeepDays) {
	if !k.Valid() {
		bad.AddField(field, "field.range", "Min", 0, "Max", model.MaxKeepDays)
	}
}

func between(bad *model.Error, field string, n, limit int) {
	if n < 0 || n > limit {
		bad.AddField(field, "field.range", "Min", 0, "Max", limit)
	}
}

// startLead leaves the planner the time to write the first fire down.
const startLead = 2 * time.Second

// firstFire gives the first fire of a job that begins now, in epoch ms; 0 = never.
func (s *Service) firstFire(j *model.Job, now time.Time) (int64, error) {
	var sched cron.Schedule
	var err error
	switch j.ScheduleType {
	case model.ScheduleCron:
		sched, err = cron.ParseLenient(j.ScheduleConf)
	case model.ScheduleFixRate:
		sched, err = cron.ParseFixedRate(j.ScheduleConf)
	default:
		return 0, model.Errf(model.CodeInvalid, "error.schedule_none")
	}
	if err != nil {
		return 0, &model.Error{Code: model.CodeInvalid, Key: "error.cron", Args: map[string]any{"Reason": err.Error()}, Cause: err}
	}
	at := sched.Next(now.In(s.loc))
	for !at.IsZero() && at.Before(now.Add(startLead)) {
		at = sched.Next(at)
	}
	if at.IsZero() {
		return 0, model.Errf(model.CodeInvalid, "error.never_fires")
	}
	return at.UnixMilli(), nil
}
