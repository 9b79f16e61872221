package jobs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// Restored is a job as a form with the values of before a change.
type Restored struct {
	Input JobInput
	Entry model.AuditEntry
	Back  []string // fields that have their old values again
	Left  []string // fields whose old values are not kept, or cannot be set
}

// RestoreJob gives the form of a job with the values that one line of its audit replaced.
// Nothing is stored. A line that is none of this job is not found.
func (s *Service) RestoreJob(ctx context.Context, actor model.Actor, id int, line int64) (Restored, error) {
	var out Restored
	j, err := s.Job(ctx, actor, id)
	if err != nil {
		return out, err
	}
	rows, err := s.AuditOf(ctx, actor, model.AuditJob, int64(id))
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(rows, func(e model.AuditEntry) bool { return e.ID == line && e.Outcome == model.AuditDone })
	if i < 0 {
		return out, model.Errf(model.CodeNotFound, "error.not_found")
	}
	out.Entry, out.Input = rows[i], InputOf(&j)
	for _, c := range rows[i].Changes {
		if putBack(&out.Input, c.Field, c.Old) {
			out.Back = append(out.Back, c.Field)
		} else {
			out.Left = append(out.Left, c.Field)
		}
	}
	return out, nil
}

// putBack puts a value as the audit has it into a form. It reports false for values that
// were cut off, that the audit does not keep, and for what cannot be changed.
func putBack(in *JobInput, field, value string) bool {
	if len(value) > longestChange && strings.HasSuffix(value, "…") {
		return false
	}
	texts := map[string]*string{
		"name": &in.Name, "author": &in.Author, "alarm_email": &in.AlarmEmail, "schedule_conf": &in.ScheduleConf,
		"handler": &in.Handler, "param": &in.Param, "child_ids": &in.ChildIDs, "tags": &in.Tags,
	}
	if p, ok := texts[field]; ok {
		*p = value
		return true
	}
	numbers := map[string]*int{"timeout": &in.TimeoutSec, "retry": &in.RetryCount, "retry_delay": &in.RetryDelaySec, "misfire_after": &in.MisfireAfterSec}
	if p, ok := numbers[field]; ok {
		n, err := strconv.Atoi(value)
		if err == nil {
			*p = n
		}
		return err == nil
	}
	switch field {
	case "keep_days", "keep_failed_days":
		k, ok := model.ParseKeepDays(value)
		if ok && field == "keep_days" {
			in.KeepDays = k
		} else if ok {
			in.KeepFailedDays = k
		}
		return ok
	case "schedule_type":
		in.ScheduleType = model.ScheduleType(value)
	case "misfire":
		in.Misfire = model.MisfireStrategy(value)
	case "route":
		in.Route = model.RouteStrategy(value)
	case "block":
		in.Block = model.BlockStrategy(value)
	case "retry_growing":
		in.RetryGrowing = value == "true"
	default:
		return false
	}
	return true
}
