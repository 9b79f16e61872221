package jobs

import (
	"context"
	"strings"
	"time"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/carillon-scheduler/carillon/model"
)

// ScriptInput is a new text of a script as a person asks for it.
type ScriptInput struct {
	Source  string
	Remark  string // what was changed; required
	Version int64  // of the job, as it was seen when the edit began
}

// Script gives to who may edit it a script job with its source, and what its script was before, newest first.
func (s *Service) Script(ctx context.Context, actor model.Actor, id int) (model.Job, []model.ScriptVersion, error) {
	j, err := s.scriptJob(ctx, actor, id)
	if err != nil {
		return j, nil, err
	}
	list, err := s.store.ScriptVersions(ctx, id)
	return j, list, err
}

// ScriptVersion gives one text that the script of a job had; version 0 is the current one.
func (s *Service) ScriptVersion(ctx context.Context, actor model.Actor, id, version int) (model.ScriptVersion, error) {
	j, err := s.scriptJob(ctx, actor, id)
	if err != nil {
		return model.ScriptVersion{}, err
	}
	if version == 0 {
		return model.ScriptVersion{
			JobID: id, Type: j.GlueType, Source: j.GlueSource, Remark: j.GlueRemark, Bytes: int64(len(j.GlueSource)), AddTime: j.GlueUpdateTime,
		}, nil
	}
	return s.store.ScriptVersion(ctx, id, version)
}

func (s *Service) scriptJob(ctx context.Context, actor model.Actor, id int) (model.Job, error) {
	j, err := s.jobFor(ctx, actor, id, model.LevelEdit, "job.script")
	if err == nil && !j.GlueType.IsScript() {
		return j, model.Errf(model.CodeNotFound, "error.no_script")
	}
	return j, err
}

// SaveScript makes a new version of a script. The same text again makes none: saved is false.
func (s *Service) SaveScript(ctx context.Context, actor model.Actor, id int, in ScriptInput) (saved bool, err error) {
	old, err := s.scriptJob(ctx, actor, id)
	if err != nil {
		return false, err
	}
	if in.Version != old.Version {
		return false, model.Errf(model.CodeConflict, "error.conflict")
	}
	j := old
	j.GlueSource, j.GlueRemark = in.Source, strings.TrimSpace(in.Remark)
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	s.checkSource(&j, nil, bad)
	if len(bad.Fields) == 0 && j.GlueSource == old.GlueSource {
		return false, nil
	}
	if !actor.Scripts(j.GroupID) { // a right of its own
		bad.AddField("glue_source", "field.no_scripts")
	}
	if j.GlueRemark == "" {
		bad.AddField("glue_remark", "field.required")
	}
	if len(bad.Fields) > 0 {
		s.note(ctx, actor, "job.script", jobThing(&old), bad)
		return false, bad
	}
	now := s.Now()
	j.GlueUpdateTime, j.GlueAuthor = nextSourceTime(&old, now), actor.Name
	if err := s.store.SaveScript(ctx, &j, now); err != nil {
		return false, err
	}
	s.log.Info("script saved", "job_id", id, "user", actor.Name, "remark", j.GlueRemark)
	s.note(ctx, actor, "job.script", jobThing(&j), nil, jobChanges(&old, &j)...)
	return true, nil
}

// nextSourceTime is the time of a new source. Executors keep a script by this time in
// whole seconds: it must grow.
func nextSourceTime(old *model.Job, now time.Time) time.Time {
	at := now.Truncate(time.Second)
	if least := old.GlueUpdateTime.Add(time.Second); at.Before(least) {
		return least
	}
	return at
}

// DiffLine is a line of a comparison. Op is ' ' for one that both have, '-' for one of
// the old text only, '+' for one of the new.
type DiffLine struct {
	Op       byte
	Old, New int // line numbers from 1, 0 = not there
	Text     string
}

// diffTimeout bounds the search for the shortest comparison; what is found by then counts.
const diffTimeout = 500 * time.Millisecond

// DiffLines compares two texts line by line.
func DiffLines(old, new string) []DiffLine {
	d := diffmatchpatch.New()
	d.DiffTimeout = diffTimeout
	a, b, lines := d.DiffLinesToChars(old, new)
	parts := d.DiffCharsToLines(d.DiffMain(a, b, false), lines)
	var out []DiffLine
	n, m := 0, 0
	for _, part := range parts {
		for text := range strings.Lines(part.Text) {
			line := DiffLine{Op: ' ', Text: strings.TrimRight(text, "\r\n")}
			switch part.Type {
			case diffmatchpatch.DiffDelete:
				n++
				line.Op, line.Old = '-', n
			case diffmatchpatch.DiffInsert:
				m++
				line.Op, line.New = '+', m
			default:
				n, m = n+1, m+1
				line.Old, line.New = n, m
			}
			out = append(out, line)
		}
	}
	return out
}
