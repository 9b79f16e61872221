package console

import (
	"context"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// Files are tested with the real use cases (app/files_test.go); the fake says who asked.

func (f *fake) ExportJobs(_ context.Context, a model.Actor, m model.JobFilter) ([]model.JobDoc, error) {
	f.exported = m
	return nil, f.note("export %s", a.Name)
}

func (f *fake) PlanImport(_ context.Context, a model.Actor, docs []model.JobDoc, _ jobs.ImportOptions) (jobs.ImportPlan, error) {
	return jobs.ImportPlan{}, f.note("plan %s %d", a.Name, len(docs))
}

func (f *fake) ImportJobs(_ context.Context, a model.Actor, docs []model.JobDoc, _ jobs.ImportOptions, digest string) (jobs.ImportPlan, error) {
	return jobs.ImportPlan{}, f.note("import %s %d %s", a.Name, len(docs), digest)
}
