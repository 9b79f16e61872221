package jobs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func TestSaveScript(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	id := w.add(t, func(in *jobs.JobInput) {
		in.GlueType, in.Handler, in.GlueSource, in.GlueRemark = model.GlueShell, "", "echo 1\n", "begins"
	})
	save := func(a model.Actor, in jobs.ScriptInput) (bool, error) {
		j, _, err := w.Script(ctx, admin(), id)
		require.NoError(t, err)
		if in.Version == 0 {
			in.Version = j.Version
		}
		return w.SaveScript(ctx, a, id, in)
	}
	olga := model.Actor{Name: "olga", Groups: []int{w.group.ID}}
	saved, err := save(olga, jobs.ScriptInput{Source: "echo 2\r\n", Remark: " two "})
	require.NoError(t, err)
	require.True(t, saved)
	j, versions, err := w.Script(ctx, olga, id)
	require.NoError(t, err)
	require.Equal(t, "echo 2\n", j.GlueSource, "bash takes the carriage return for part of a word")
	require.Len(t, versions, 2)
	require.Equal(t, []string{"olga", "two", "root", "begins"}, []string{versions[0].Author, versions[0].Remark, versions[1].Author, versions[1].Remark})
	old, err := w.ScriptVersion(ctx, olga, id, versions[1].ID)
	require.NoError(t, err)
	require.Equal(t, "echo 1\n", old.Source)
	now, err := w.ScriptVersion(ctx, olga, id, 0)
	require.NoError(t, err)
	require.Equal(t, "echo 2\n", now.Source)

	saved, err = save(olga, jobs.ScriptInput{Source: "echo 2\n"})
	require.NoError(t, err)
	require.False(t, saved, "the same text is no version")
	for field, in := range map[string]jobs.ScriptInput{
		"glue_remark": {Source: "echo 3"}, "glue_source": {Source: " \n", Remark: "empty"},
	} {
		_, err = save(olga, in)
		e, _ := err.(*model.Error)
		require.NotNil(t, e, field)
		require.Contains(t, e.Fields, field)
	}
	_, err = save(olga, jobs.ScriptInput{Source: "x", Remark: strings.Repeat("长", 101)})
	require.Equal(t, model.CodeInvalid, model.CodeOf(err))
	_, err = save(olga, jobs.ScriptInput{Source: "x\xff", Remark: "broken"})
	require.Equal(t, model.CodeInvalid, model.CodeOf(err))
	_, err = save(olga, jobs.ScriptInput{Source: "x", Remark: "stale", Version: 99})
	require.Equal(t, model.CodeConflict, model.CodeOf(err))
	_, err = save(model.Actor{Name: "chen"}, jobs.ScriptInput{Source: "x", Remark: "foreign"})
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
	edits := model.Actor{Name: "edith", Rights: model.Rights{Groups: map[int]model.Grant{w.group.ID: {Level: model.LevelEdit}}}}
	_, err = save(edits, jobs.ScriptInput{Source: "x", Remark: "without the right"})
	require.Equal(t, model.CodeInvalid, model.CodeOf(err), "scripts are a right of their own")
	_, _, err = w.Script(ctx, edits, id)
	require.NoError(t, err, "who may edit the job may read it")
	audit, err := w.Audit(ctx, admin(), model.AuditFilter{Action: "job.script", Limit: 10})
	require.NoError(t, err)
	require.Equal(t, []model.AuditOutcome{model.AuditRefused, model.AuditRefused, model.AuditDone},
		[]model.AuditOutcome{audit.Rows[0].Outcome, audit.Rows[1].Outcome, audit.Rows[2].Outcome}, "edith's, chen's, olga's")
	_, _, err = w.Script(ctx, admin(), w.add(t, nil))
	require.Equal(t, model.CodeNotFound, model.CodeOf(err), "a bean has no script")
}

func TestDiffLines(t *testing.T) {
	show := func(a, b string) string {
		var s strings.Builder
		for _, l := range jobs.DiffLines(a, b) {
			s.WriteByte(l.Op)
			s.WriteString(l.Text + "|")
		}
		return s.String()
	}
	require.Equal(t, " a|-b|+B| c|+d|", show("a\nb\nc\n", "a\nB\nc\nd\n"))
	require.Equal(t, "", show("", ""))
	require.Equal(t, "+a|", show("", "a"))
	require.Equal(t, " a|", show("a\r\n", "a\r\n"))
	d := jobs.DiffLines("a\nb\n", "b\nc\n")
	require.Equal(t, []jobs.DiffLine{{Op: '-', Old: 1, Text: "a"}, {Op: ' ', Old: 2, New: 1, Text: "b"}, {Op: '+', New: 2, Text: "c"}}, d)
}
