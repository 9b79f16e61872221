package console

import (
	"context"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// Accounts, the audit and sessions are tested with the real use cases
// (app/people_test.go, access_test.go); the fake has enough to draw the pages.

func (f *fake) Account(ctx context.Context, _ model.Actor, id int) (model.User, error) {
	return f.User(ctx, id)
}

func (f *fake) AddUser(_ context.Context, _ model.Actor, in jobs.UserInput) (int, string, error) {
	return 9, "made-up", f.note("user %+v", in)
}

func (f *fake) UpdateUser(_ context.Context, _ model.Actor, id int, in jobs.UserInput) error {
	return f.note("user %d %+v", id, in)
}

func (f *fake) DeleteUser(_ context.Context, _ model.Actor, id int) error {
	return f.note("delete user %d", id)
}

func (f *fake) ResetPasswordOf(_ context.Context, _ model.Actor, id int, _ string) (string, error) {
	return "made-up", f.note("reset %d", id)
}

func (f *fake) SetProfile(ctx context.Context, id int, p model.Profile) error {
	for i := range f.users {
		if f.users[i].ID == id {
			f.users[i].Zone, f.users[i].Mail = p.Zone, p.Mail
		}
	}
	return f.SetPreferences(ctx, id, p.Language, p.Theme)
}

func (f *fake) UserSessions(context.Context, model.Actor, int) ([]model.Session, error) {
	return []model.Session{{ID: "abc", UserID: 1, Began: f.now, Seen: f.now, From: "10.0.0.9", Agent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0"}}, nil
}

func (f *fake) EndSession(_ context.Context, _ model.Actor, user int, id string) error {
	return f.note("end %d %s", user, id)
}

func (f *fake) audit(action string, kind model.AuditKind, id int64, name string, changes ...model.Change) model.AuditEntry {
	return model.AuditEntry{ID: 1, At: f.now, User: "olga", From: "10.0.0.9", Action: action, Kind: kind, ObjectID: id, Object: name, Outcome: model.AuditDone, Changes: changes}
}

func (f *fake) Audit(context.Context, model.Actor, model.AuditFilter) (jobs.AuditPage, error) {
	return jobs.AuditPage{Rows: []model.AuditEntry{
		f.audit("job.edit", model.AuditJob, 1039, "Exchange rates", model.Change{Field: "retry", Old: "0", New: "3"}, model.Change{Field: "glue_source"}),
		{ID: 2, At: f.now, User: "=mallory", Action: "login", Kind: model.AuditUser, Object: "=mallory", Outcome: model.AuditRefused},
	}}, nil
}

func (f *fake) AuditOf(context.Context, model.Actor, model.AuditKind, int64) ([]model.AuditEntry, error) {
	return []model.AuditEntry{f.audit("job.start", model.AuditJob, 1039, "Exchange rates")}, nil
}

func (f *fake) NoteLogout(context.Context, model.Actor) {}

func (f *fake) JobTo(ctx context.Context, a model.Actor, id int, level model.Level, _ string) (model.Job, error) {
	j, err := f.Job(ctx, a, id)
	if err == nil && !a.May(level, j.GroupID) {
		err = model.Errf(model.CodeForbidden, "error.forbidden")
	}
	return j, err
}
