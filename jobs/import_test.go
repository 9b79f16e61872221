package jobs_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

func keyOf(name string) model.JobKey { return model.JobKey{Executor: "app-one", Name: name} }

// all gives every job as a file has it.
func (w *world) all(t *testing.T, a model.Actor) []model.JobDoc {
	docs, err := w.ExportJobs(t.Context(), a, model.JobFilter{})
	require.NoError(t, err)
	return docs
}

// TestPromotion carries jobs from one center to another, where ids differ: all of
// them, children and scripts too, and the second time nothing is left to do.
func TestPromotion(t *testing.T) {
	from, to := newWorld(t), newWorld(t)
	child := from.add(t, func(in *jobs.JobInput) { in.Name = "child" })
	from.add(t, func(in *jobs.JobInput) {
		in.Name, in.ChildIDs, in.Param, in.RetryCount, in.RetryDelaySec, in.MisfireAfterSec = "parent", strconv.Itoa(child), "a\n b\n", 3, 7, 60
		in.Tags, in.KeepDays, in.KeepFailedDays = "Pay, nightly", 7, model.KeepForever
	})
	script := from.add(t, func(in *jobs.JobInput) {
		in.Name, in.GlueType, in.GlueSource, in.GlueRemark = "script", model.GlueShell, "#!/bin/sh\necho $1\n", "first"
	})
	require.NoError(t, from.StartJob(t.Context(), admin(), script))
	to.add(t, func(in *jobs.JobInput) { in.Name = "not in the file" })
	to.add(t, func(in *jobs.JobInput) { in.Name, in.Author = "child", "somebody" })
	docs := from.all(t, admin())

	plan, err := to.PlanImport(t.Context(), admin(), docs, jobs.ImportOptions{Status: true})
	require.NoError(t, err)
	require.Equal(t, []int{2, 1, 0, 0}, []int{plan.New, plan.Changed, plan.Same, plan.Bad})
	require.Len(t, to.all(t, admin()), 2, "planning writes nothing")
	for _, it := range plan.Items {
		if it.Kind == jobs.ImportChanged {
			require.Equal(t, []jobs.FieldChange{{Field: "author", Old: "somebody", New: "ops"}}, it.Changes)
		}
	}
	done, err := to.ImportJobs(t.Context(), admin(), docs, jobs.ImportOptions{Status: true}, plan.Digest)
	require.NoError(t, err)
	for _, it := range done.Items {
		require.NoError(t, it.Err)
		require.True(t, it.Done)
	}
	require.ElementsMatch(t, docs, without(to.all(t, admin()), "not in the file"))

	before := to.all(t, admin())
	again, err := to.ImportJobs(t.Context(), admin(), docs, jobs.ImportOptions{Status: true}, "")
	require.NoError(t, err)
	require.Equal(t, 3, again.Same)
	require.Equal(t, before, to.all(t, admin()))

	_, err = to.ImportJobs(t.Context(), admin(), docs, jobs.ImportOptions{Status: true}, plan.Digest)
	require.Equal(t, model.CodeConflict, model.CodeOf(err), "the plan was another one")
}

func without(docs []model.JobDoc, name string) (out []model.JobDoc) {
	for _, d := range docs {
		if d.Name != name {
			out = append(out, d)
		}
	}
	return out
}

// TestPartsOfAJob: a key that the file does not have leaves what is stored; status is
// taken only when asked for.
func TestPartsOfAJob(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, func(in *jobs.JobInput) { in.Param = "keep" })
	require.NoError(t, w.StartJob(t.Context(), admin(), id))
	doc := model.JobDoc{Executor: "APP-one", Name: "job", Author: "new", Has: map[string]bool{"author": true, "status": true}}
	p, err := w.ImportJobs(t.Context(), admin(), []model.JobDoc{doc}, jobs.ImportOptions{}, "")
	require.NoError(t, err)
	require.Equal(t, 1, p.Changed)
	j, err := w.Job(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Equal(t, "new", j.Author)
	require.Equal(t, "keep", j.Param)
	require.Equal(t, model.JobRunning, j.Status)
	p, err = w.ImportJobs(t.Context(), admin(), []model.JobDoc{doc}, jobs.ImportOptions{Status: true}, "")
	require.NoError(t, err)
	require.Equal(t, []jobs.FieldChange{{Field: "status", Old: "running", New: "stopped"}}, p.Items[0].Changes)
	j, err = w.Job(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Equal(t, model.JobStopped, j.Status)
}

// TestImportRefuses: one job that cannot be, and nothing of the file is written.
func TestImportRefuses(t *testing.T) {
	w := newWorld(t)
	good := model.JobDoc{
		Executor: "app-one", Name: "good", Author: "a", ScheduleType: model.ScheduleNone, Misfire: model.MisfireSkip, Route: model.RouteFirst,
		Block: model.BlockSerial, GlueType: model.GlueBean, Handler: "h",
	}
	change := func(f func(*model.JobDoc)) model.JobDoc {
		d := good
		d.Name = "bad"
		f(&d)
		return d
	}
	stored := w.add(t, func(in *jobs.JobInput) { in.Name = "stored" })
	w.add(t, func(in *jobs.JobInput) { in.Name, in.ChildIDs = "its parent", strconv.Itoa(stored) })
	w.add(t, func(in *jobs.JobInput) { in.Name = "twins" })
	w.add(t, func(in *jobs.JobInput) { in.Name = "twins" })
	foreign := storetest.Group(t, w.store, "app-two", "http://10.0.0.2:9999/")
	before := w.all(t, admin())
	normal := model.Actor{Name: "n", Groups: []int{w.group.ID}}
	for name, d := range map[string]model.JobDoc{
		"unknown executor":           change(func(d *model.JobDoc) { d.Executor = "nobody" }),
		"executor of others":         change(func(d *model.JobDoc) { d.Executor = foreign.AppName }),
		"broken cron":                change(func(d *model.JobDoc) { d.ScheduleType, d.ScheduleConf = model.ScheduleCron, "x" }),
		"unknown route":              change(func(d *model.JobDoc) { d.Route = "NEAREST" }),
		"child nobody knows":         change(func(d *model.JobDoc) { d.Children = []model.JobKey{keyOf("nobody")} }),
		"two children of that name":  change(func(d *model.JobDoc) { d.Children = []model.JobKey{keyOf("twins")} }),
		"its own child":              change(func(d *model.JobDoc) { d.Children = []model.JobKey{keyOf("bad")} }),
		"two jobs of that name":      change(func(d *model.JobDoc) { d.Name = "twins" }),
		"a circle over a stored job": change(func(d *model.JobDoc) { d.Name = "stored"; d.Children = []model.JobKey{keyOf("its parent")} }),
		"running without a schedule": change(func(d *model.JobDoc) { d.Running = true }),
		"another run mode":           change(func(d *model.JobDoc) { d.Name = "stored"; d.GlueType, d.GlueSource = model.GlueShell, "x" }),
		"a name of three hundred":    change(func(d *model.JobDoc) { d.Name = string(make([]rune, 300)) }),
	} {
		t.Run(name, func(t *testing.T) {
			p, err := w.ImportJobs(t.Context(), normal, []model.JobDoc{good, d}, jobs.ImportOptions{Status: true}, "")
			require.Equal(t, model.CodeInvalid, model.CodeOf(err))
			require.Equal(t, 1, p.Bad)
			require.Error(t, p.Items[1].Err)
			require.Equal(t, before, w.all(t, admin()), "something was written")
		})
	}
	two := []model.JobDoc{
		change(func(d *model.JobDoc) { d.Name = "a"; d.Children = []model.JobKey{keyOf("b")} }),
		change(func(d *model.JobDoc) { d.Name = "b"; d.Children = []model.JobKey{keyOf("a")} }),
	}
	p, err := w.ImportJobs(t.Context(), normal, two, jobs.ImportOptions{}, "")
	require.Equal(t, model.CodeInvalid, model.CodeOf(err))
	require.Equal(t, 2, p.Bad, "a circle among new jobs")
	require.Equal(t, before, w.all(t, admin()))
}

// TestRowsOfAJavaAdmin keep what their dialog leaves in them and are the same twice.
func TestRowsOfAJavaAdmin(t *testing.T) {
	w := newWorld(t)
	storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.GlueRemark, j.ChildIDs = "initialised", "4711" })
	docs := w.all(t, admin())
	p, err := w.ImportJobs(t.Context(), admin(), docs, jobs.ImportOptions{Status: true}, "")
	require.NoError(t, err)
	require.Equal(t, 1, p.Same, "%+v", p.Items)
}
