package jobs

import (
	"context"
	"net/mail"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// What can be changed of many jobs.
const (
	ChangeMove   = "move"   // the executor, by its id
	ChangeTag    = "tag"    // tags are added, comma separated
	ChangeUntag  = "untag"  // tags are taken away
	ChangeAuthor = "author" // the owner
	ChangeAlarm  = "alarm"  // the alarm mail, "" = none
)

// JobChanges lists what can be changed of many jobs.
func JobChanges() []string {
	return []string{ChangeMove, ChangeTag, ChangeUntag, ChangeAuthor, ChangeAlarm}
}

// JobChange is made to many jobs.
type JobChange struct {
	Do    string // one of JobChanges
	Value string
	// Expect, when not nil, is the value that a job must have now: what others have changed
	// since is left alone.
	Expect *string
}

// Back gives the change that takes this one back from jobs of which it replaced a value.
func (c JobChange) Back(was string) JobChange {
	switch c.Do {
	case ChangeTag:
		return JobChange{Do: ChangeUntag, Value: was}
	case ChangeUntag:
		return JobChange{Do: ChangeTag, Value: was}
	}
	return JobChange{Do: c.Do, Value: was, Expect: &c.Value}
}

// CheckChange says what is wrong with a change whatever the job, at the field "value", and
// gives it as it will be stored.
func (s *Service) CheckChange(ctx context.Context, actor model.Actor, c JobChange) (JobChange, error) {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if !slices.Contains(JobChanges(), c.Do) {
		return c, bad
	}
	c.Value = strings.TrimSpace(c.Value)
	found := model.Errf(model.CodeInvalid, "error.invalid")
	switch c.Do {
	case ChangeMove:
		id, err := strconv.Atoi(c.Value)
		if err != nil {
			id = 0
		}
		if err := s.checkGroup(ctx, actor, id, found); err != nil {
			return c, err
		}
		c.Value = itoa(id)
	case ChangeTag, ChangeUntag:
		c.Value = checkTags(c.Value, found)
		if c.Value == "" {
			found.AddField("tags", "field.required")
		}
	case ChangeAuthor:
		line(found, "author", c.Value, 64, true)
	case ChangeAlarm:
		checkMail(found, c.Value)
	}
	for _, f := range found.Fields {
		bad.Fields = setField(bad.Fields, "value", f)
	}
	if len(bad.Fields) > 0 {
		return c, bad
	}
	return c, nil
}

// apply changes a job as the form would, and says what it replaced. It reports false when
// the job is as it is wanted.
func (c JobChange) apply(in *JobInput) (was string, changed bool, err error) {
	set := func(is *string) {
		was = *is
		if changed = was != c.Value; changed && c.Expect != nil && *c.Expect != was {
			changed, err = false, model.Errf(model.CodeConflict, "error.changed_since")
			return
		}
		*is = c.Value
	}
	has, given := model.TagList(in.Tags), model.TagList(c.Value)
	switch c.Do {
	case ChangeMove:
		group := itoa(in.GroupID)
		set(&group)
		in.GroupID, _ = strconv.Atoi(group) // CheckChange has read it; 0 is refused as no executor
	case ChangeAuthor:
		set(&in.Author)
	case ChangeAlarm:
		set(&in.AlarmEmail)
	case ChangeTag:
		given = slices.DeleteFunc(given, func(t string) bool { return slices.Contains(has, t) })
		was, changed = model.JoinTags(given), len(given) > 0
		in.Tags = model.JoinTags(append(has, given...))
	case ChangeUntag:
		given = slices.DeleteFunc(given, func(t string) bool { return !slices.Contains(has, t) })
		was, changed = model.JoinTags(given), len(given) > 0
		in.Tags = model.JoinTags(slices.DeleteFunc(has, func(t string) bool { return slices.Contains(given, t) }))
	}
	return was, changed, err
}

// ChangeMany makes a change to jobs, one after the other; each is checked and noted as if
// it were made on its form. The Was of an item is for Back.
func (s *Service) ChangeMany(ctx context.Context, actor model.Actor, ids []int, c JobChange) ([]BatchItem, error) {
	if len(ids) > mostBatch {
		return nil, model.Errf(model.CodeInvalid, "error.batch_size", "Max", mostBatch)
	}
	c, err := s.CheckChange(ctx, actor, c)
	if err != nil {
		return nil, err
	}
	var items []BatchItem
	for _, id := range compactIDs(ids) {
		item := BatchItem{ID: int64(id)}
		same := false
		for range statusTries {
			var j model.Job
			if j, err = s.jobFor(ctx, actor, id, model.LevelEdit, "job.edit"); err != nil {
				break
			}
			item.Name = j.Name
			in, changed := InputOf(&j), false
			if item.Was, changed, err = c.apply(&in); err != nil {
				break
			}
			if same = !changed; same {
				break
			}
			if err = s.UpdateJob(ctx, actor, id, in); model.CodeOf(err) != model.CodeConflict {
				break
			}
		}
		if err := item.take(ctx, err); err != nil {
			return items, err
		}
		item.Changed = item.Changed && !same
		items = append(items, item)
	}
	return items, nil
}

// checkMail wants addresses, comma separated, or nothing.
func checkMail(bad *model.Error, text string) {
	line(bad, "alarm_email", text, 255, false)
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if _, err := mail.ParseAddress(part); err != nil {
			bad.AddField("alarm_email", "field.email", "Value", part)
		}
	}
}
