package jobs_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// lines gives the audit, oldest first.
func (w *world) lines(t *testing.T) []model.AuditEntry {
	t.Helper()
	p, err := w.Audit(t.Context(), admin(), model.AuditFilter{Limit: 1000})
	require.NoError(t, err)
	var out []model.AuditEntry
	for i := range p.Rows {
		out = append(out, p.Rows[len(p.Rows)-1-i])
	}
	return out
}

func actions(list []model.AuditEntry) (out []string) {
	for _, e := range list {
		text := e.Action
		if e.Outcome == model.AuditRefused {
			text += " refused"
		}
		out = append(out, text)
	}
	return out
}

// TestTheAuditSaysWhoDidWhat: every change has a line with its diff; scripts and passwords
// are in none.
func TestTheAuditSaysWhoDidWhat(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	boss := model.Actor{UserID: 7, Name: "boss", From: "10.9.9.9", Admin: true}
	in := w.input()
	id, err := w.AddJob(ctx, boss, in)
	require.NoError(t, err)
	in.RetryCount, in.Name, in.Version = 3, "renamed", 1
	require.NoError(t, w.UpdateJob(ctx, boss, id, in))
	require.NoError(t, w.StartJob(ctx, boss, id))
	require.NoError(t, w.StopJob(ctx, boss, id))
	param := "once"
	_, err = w.RunNow(ctx, boss, id, jobs.RunInput{Param: &param})
	require.NoError(t, err)
	_, err = w.RunNow(ctx, model.Actor{Name: "api", Admin: true}, id, jobs.RunInput{Trigger: model.TriggerAPI})
	require.NoError(t, err)
	j, err := w.store.Job(ctx, id)
	require.NoError(t, err)
	run := storetest.Run(t, w.store, j, nil)
	require.NoError(t, w.TakeBackRun(ctx, boss, run.ID))
	script := w.input()
	script.Name, script.GlueType, script.GlueSource, script.GlueRemark = "script", model.GlueShell, "echo TOP-SECRET-1", "r"
	sid, err := w.AddJob(ctx, boss, script)
	require.NoError(t, err)
	script.GlueSource, script.Version = "echo TOP-SECRET-2", 1
	require.NoError(t, w.UpdateJob(ctx, boss, sid, script))
	require.NoError(t, w.DeleteJob(ctx, boss, id))
	gid, err := w.AddExecutor(ctx, boss, jobs.ExecutorInput{AppName: "other-app", Title: "Other"})
	require.NoError(t, err)
	require.NoError(t, w.UpdateExecutor(ctx, boss, gid, jobs.ExecutorInput{Title: "Better"}))
	require.NoError(t, w.DeleteExecutor(ctx, boss, gid))
	uid, made, err := w.AddUser(ctx, boss, jobs.UserInput{Name: "olga", Groups: map[int]model.Level{w.group.ID: model.LevelOperate}})
	require.NoError(t, err)
	require.Len(t, made, 16)
	_, err = w.ResetPasswordOf(ctx, boss, uid, "typed-password")
	require.NoError(t, err)
	_, err = w.Login(ctx, "olga", "wrong-password", "10.1.1.1")
	require.Error(t, err)
	u, err := w.Login(ctx, "olga", "typed-password", "10.1.1.1")
	require.NoError(t, err)
	_, err = w.ChangePassword(ctx, u.ID, "not-the-old", "new-password", "10.1.1.1")
	require.Error(t, err)
	_, err = w.ChangePassword(ctx, u.ID, "typed-password", "new-password", "10.1.1.1")
	require.NoError(t, err)
	olga := u.Actor()
	require.Error(t, w.DeleteJob(ctx, olga, sid))
	require.Error(t, w.DeleteUser(ctx, olga, u.ID))
	_, err = w.Audit(ctx, olga, model.AuditFilter{})
	require.Equal(t, model.CodeForbidden, model.CodeOf(err))
	w.NoteLogout(ctx, olga)

	list := w.lines(t)
	require.Equal(t, []string{
		"job.add", "job.edit", "job.start", "job.stop", "job.run", "run.takeback", "job.add", "job.edit", "job.delete",
		"executor.add", "executor.edit", "executor.delete", "user.add", "password.reset", "login refused", "login", "password.change refused", "password.change",
		"job.delete refused", "user.delete refused", "audit.read refused", "logout",
	}, actions(list))
	edit := list[1]
	require.Equal(t, []any{"boss", 7, "10.9.9.9", model.AuditJob, int64(id), "renamed"}, []any{edit.User, edit.UserID, edit.From, edit.Kind, edit.ObjectID, edit.Object})
	require.Equal(t, []model.Change{{Field: "name", Old: "job", New: "renamed"}, {Field: "retry", Old: "0", New: "3"}}, edit.Changes)
	require.Equal(t, []model.Change{{Field: "glue_source"}}, list[7].Changes, "of a script only that it changed")
	require.Equal(t, "once", list[4].Changes[1].New)
	require.Equal(t, []model.Change{{Field: "title", Old: "Other", New: "Better"}}, list[10].Changes)
	require.Contains(t, list[12].Changes, model.Change{Field: "groups", New: "app-one: operate"})
	require.Equal(t, "10.1.1.1", list[14].From)
	for _, e := range list {
		for _, c := range e.Changes {
			for _, secret := range []string{"TOP-SECRET", "password", made} {
				require.NotContains(t, c.Old+c.New, secret, e.Action)
			}
		}
	}
	own, err := w.AuditOf(ctx, olga, model.AuditJob, int64(sid))
	require.NoError(t, err)
	require.Equal(t, []string{"job.delete refused", "job.edit", "job.add"}, actions(own))
	require.Empty(t, own[1].From, "addresses of others are for administrators")
	_, err = w.AuditOf(ctx, model.Actor{UserID: 99}, model.AuditJob, int64(sid))
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
	_, err = w.AuditOf(ctx, olga, model.AuditUser, int64(uid))
	require.Equal(t, model.CodeForbidden, model.CodeOf(err))
}

// deaf is a database that takes no lines of the audit.
type deaf struct{ *store.Store }

func (deaf) InsertAudit(context.Context, []model.AuditEntry) error { return errors.New("disk full") }

func TestAnAuditThatFailsBreaksNothing(t *testing.T) {
	w := newWorld(t)
	svc := jobs.New(jobs.Options{Store: deaf{w.store}, Ringer: w.out, Executors: w.out})
	id, err := svc.AddJob(t.Context(), admin(), w.input())
	require.NoError(t, err)
	require.NoError(t, svc.StartJob(t.Context(), admin(), id))
	j, err := w.store.Job(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, model.JobRunning, j.Status)
}

// TestRefusalsDoNotFillTheDatabase: after sixty within a minute they are counted only.
func TestRefusalsDoNotFillTheDatabase(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, nil)
	for range 200 {
		require.Error(t, w.StartJob(t.Context(), model.Actor{UserID: 3, Name: "mallory"}, id))
	}
	require.Len(t, w.lines(t), 1+60)
	w.now = w.now.Add(2 * 60e9)
	require.Error(t, w.StartJob(t.Context(), model.Actor{UserID: 3, Name: "mallory"}, id))
	list := w.lines(t)
	require.Equal(t, []model.Change{{Field: "withheld", New: "140"}}, list[len(list)-1].Changes)
}

// TestAccounts: what an administrator does with accounts, and what is refused.
func TestAccounts(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	_, err := w.EnsureAdmin(ctx, "root-password")
	require.NoError(t, err)
	root, err := w.Login(ctx, "admin", "root-password", "h")
	require.NoError(t, err)
	boss := root.Actor()
	field := func(err error, name string) string {
		t.Helper()
		e, ok := errors.AsType[*model.Error](err)
		require.True(t, ok, "%v", err)
		return e.Fields[name].Key
	}
	other := storetest.Group(t, w.store, "app-two", "")

	for name, want := range map[string]string{
		"": "field.required", "a b": "field.user_name", strings.Repeat("x", 51): "field.too_long", "x\x00": "field.control_chars", "ADMIN": "error.user_taken", "\xff": "field.control_chars",
	} {
		_, _, err := w.AddUser(ctx, boss, jobs.UserInput{Name: name})
		require.Equal(t, want, field(err, "name"), "%q", name)
	}
	_, _, err = w.AddUser(ctx, boss, jobs.UserInput{Name: "n", Password: "short", Role: 9, Language: "xx", Theme: "x", StartPage: "//evil", Groups: map[int]model.Level{999: model.LevelEdit}})
	require.Equal(t, "field.password", field(err, "password"))
	for _, f := range []string{"role", "language", "theme", "start_page"} {
		require.Equal(t, "field.unknown_value", field(err, f), f)
	}
	_, _, err = w.AddUser(ctx, boss, jobs.UserInput{Name: "n", Groups: map[int]model.Level{999: model.LevelEdit}})
	require.Equal(t, "field.unknown_value", field(err, "groups"))

	id, made, err := w.AddUser(ctx, boss, jobs.UserInput{Name: "<b>Ölga</b>😀", Scripts: true, Groups: map[int]model.Level{w.group.ID: model.LevelEdit, other.ID: model.LevelView}})
	require.NoError(t, err)
	u, err := w.Login(ctx, "<b>Ölga</b>😀", made, "h")
	require.NoError(t, err)
	require.Equal(t, itoa(w.group.ID), u.Permission, "a Java admin sees what it may give: editing with scripts")
	require.Equal(t, itoa(other.ID)+"=view", u.Rights)
	require.True(t, u.Actor().Scripts(w.group.ID))
	require.False(t, u.Actor().May(model.LevelOperate, other.ID))

	in := jobs.UserInputOf(&u)
	in.Scripts = false
	require.NoError(t, w.UpdateUser(ctx, boss, id, in))
	u, err = w.User(ctx, id)
	require.NoError(t, err)
	require.Empty(t, u.Permission, "a Java admin would let them change scripts")
	require.True(t, u.Actor().May(model.LevelEdit, w.group.ID))
	require.False(t, u.Actor().Scripts(w.group.ID))

	in = jobs.UserInputOf(&u)
	in.Disabled = true
	require.NoError(t, w.UpdateUser(ctx, boss, id, in))
	require.Equal(t, model.CodeConflict, model.CodeOf(w.UpdateUser(ctx, boss, id, in)), "who saves an old form changes nothing")
	_, err = w.Login(ctx, u.Name, made, "h")
	require.Equal(t, "error.account_disabled", err.(*model.Error).Key)
	_, err = w.Login(ctx, u.Name, "wrong", "h")
	require.Equal(t, "error.login", err.(*model.Error).Key, "only who knows the password learns it")
	u, err = w.User(ctx, id)
	require.NoError(t, err)
	in = jobs.UserInputOf(&u)
	in.Disabled = false
	require.NoError(t, w.UpdateUser(ctx, boss, id, in))
	_, err = w.Login(ctx, u.Name, made, "h")
	require.NoError(t, err)

	self := jobs.UserInputOf(&root)
	self.Disabled = true
	require.Equal(t, "error.own_account", field(w.UpdateUser(ctx, boss, root.ID, self), "disabled"))
	self.Disabled, self.Role = false, model.LevelView
	require.Equal(t, "error.last_admin", field(w.UpdateUser(ctx, boss, root.ID, self), "role"))
	require.Equal(t, "error.own_account", w.DeleteUser(ctx, boss, root.ID).(*model.Error).Key)

	again, err := w.ResetPasswordOf(ctx, boss, id, "")
	require.NoError(t, err)
	_, err = w.Login(ctx, u.Name, again, "h")
	require.NoError(t, err)
	_, err = w.ResetPasswordOf(ctx, boss, id, "short")
	require.Equal(t, "field.password", field(err, "password"))
	_, err = w.ResetPasswordOf(ctx, boss, 999, "")
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
	_, err = w.ResetPasswordOf(ctx, boss, root.ID, "new-password")
	require.Equal(t, "error.own_account", err.(*model.Error).Key, "one's own is changed with the old one")
	require.NoError(t, w.DeleteUser(ctx, boss, id))
	_, err = w.Login(ctx, u.Name, again, "h")
	require.Error(t, err)

	require.NoError(t, w.SetProfile(ctx, root.ID, model.Profile{Language: "en", Theme: "dark", StartPage: "/runs", Zone: "Asia/Tokyo"}))
	for _, zone := range []string{"Local", "Mars/Olympus", "../etc/passwd", strings.Repeat("x", 70)} {
		require.Error(t, w.SetProfile(ctx, root.ID, model.Profile{Zone: zone}), zone)
	}
	require.Error(t, w.SetProfile(ctx, root.ID, model.Profile{Language: "en", Theme: "dark", StartPage: "https://evil", Zone: "Asia/Tokyo"}))
	require.NoError(t, w.SetProfile(ctx, root.ID, model.Profile{Mail: " root@example.org "}))
	kept, err := w.Account(ctx, boss, root.ID)
	require.NoError(t, err)
	require.Equal(t, "root@example.org", kept.Mail)
	for _, mail := range []string{"root", "Root <root@example.org>", "a@b.c, d@e.f", "a@b\r\nBcc: x@y.z", strings.Repeat("x", 250) + "@example.org"} {
		require.Equal(t, "field.email", field(w.SetProfile(ctx, root.ID, model.Profile{Mail: mail}), "mail"), mail)
		in := jobs.UserInputOf(&kept)
		in.Mail = mail
		require.Equal(t, "field.email", field(w.UpdateUser(ctx, boss, root.ID, in), "mail"), mail)
	}
	in = jobs.UserInputOf(&kept)
	in.Mail = "boss@example.org"
	require.NoError(t, w.UpdateUser(ctx, boss, root.ID, in))
	require.Equal(t, model.CodeConflict, model.CodeOf(w.UpdateUser(ctx, boss, root.ID, in)), "somebody else changed it")
	_, err = w.UserSessions(ctx, model.Actor{UserID: 5}, 6)
	require.Equal(t, model.CodeForbidden, model.CodeOf(err))
	_, err = w.UserSessions(ctx, model.Actor{}, 0)
	require.Equal(t, model.CodeForbidden, model.CodeOf(err))
	require.Equal(t, model.CodeForbidden, model.CodeOf(w.EndSession(ctx, model.Actor{UserID: 5}, 6, "x")))
}

// TestAManagerOfOneExecutor changes its title, but no address: the token of the center goes there.
func TestAManagerOfOneExecutor(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	u := model.User{ID: 4, Name: "m", Rights: itoa(w.group.ID) + "=administer"}
	m := u.Actor()
	require.NoError(t, w.UpdateExecutor(ctx, m, w.group.ID, jobs.ExecutorInput{Title: "New", AddressType: model.AddressManual, AddressList: w.group.AddressList}))
	err := w.UpdateExecutor(ctx, m, w.group.ID, jobs.ExecutorInput{Title: "New", AddressType: model.AddressManual, AddressList: "http://evil:1/"})
	require.Equal(t, "field.admin_only", err.(*model.Error).Fields["address_list"].Key)
	require.Equal(t, model.CodeForbidden, model.CodeOf(w.DeleteExecutor(ctx, m, w.group.ID)))
	g, err := w.store.Group(ctx, w.group.ID)
	require.NoError(t, err)
	require.Equal(t, "New", g.Title)
	require.Equal(t, w.group.AddressList, g.AddressList)
}

func itoa(n int) string { return strconv.Itoa(n) }

// TestAnOwnPasswordIsDue after somebody else has chosen one: an administrator, the command
// line, or the center for its first administrator. The own change ends that.
func TestAnOwnPasswordIsDue(t *testing.T) {
	ctx, w := t.Context(), newWorld(t)
	boss := model.Actor{UserID: 99, Name: "boss", Admin: true}
	due := func(id int) bool {
		u, err := w.store.User(ctx, id)
		require.NoError(t, err)
		return u.MustChange
	}
	id, made, err := w.AddUser(ctx, boss, jobs.UserInput{Name: "olga"})
	require.NoError(t, err)
	require.True(t, due(id))
	_, err = w.ChangePassword(ctx, id, made, made, "10.1.1.1")
	require.Equal(t, model.CodeInvalid, model.CodeOf(err), "the same one is nobody's own")
	require.True(t, due(id))
	u, err := w.ChangePassword(ctx, id, made, "my own password", "10.1.1.1")
	require.NoError(t, err)
	require.False(t, u.MustChange || due(id))

	_, err = w.ResetPasswordOf(ctx, boss, id, "typed by the boss")
	require.NoError(t, err)
	require.True(t, due(id))
	_, err = w.ChangePassword(ctx, id, "typed by the boss", "my own password", "10.1.1.1")
	require.NoError(t, err)
	_, err = w.ResetPassword(ctx, "olga")
	require.NoError(t, err)
	require.True(t, due(id), "also from the command line")
}

// TestTheFirstPassword of the center is due for a change when it was made up, because it
// stands in a log, and not when it was given.
func TestTheFirstPassword(t *testing.T) {
	for given, due := range map[string]bool{"": true, "given by a flag": false} {
		suite.Each(t, func(t *testing.T, st *store.Store) {
			_, err := jobs.New(jobs.Options{Store: st}).EnsureAdmin(t.Context(), given)
			require.NoError(t, err)
			u, err := st.UserByName(t.Context(), "admin")
			require.NoError(t, err)
			require.Equal(t, due, u.MustChange)
		})
	}
}
