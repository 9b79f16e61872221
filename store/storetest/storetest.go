// Package storetest runs one contract suite on every engine and makes rows for
// tests. It is imported by tests only.
package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/migrations"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest/mariadb"
)

// Suite holds the database servers of one test binary.
type Suite struct {
	maria *mariadb.Server
	count atomic.Int64
}

// Run starts the servers, runs the tests and ends the servers. Use it as
//
//	var suite storetest.Suite
//	func TestMain(m *testing.M) { os.Exit(suite.Run(m)) }
func (s *Suite) Run(m *testing.M) int {
	maria, err := mariadb.Start(context.Background(), mariadb.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.maria = maria
	code := m.Run()
	if err := maria.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Engines lists what tests run on.
func Engines() []string { return []string{"sqlite", "mariadb"} }

// URL gives the address of a new, empty database.
func (s *Suite) URL(t testing.TB, engine string) string {
	t.Helper()
	if engine == "sqlite" {
		return "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	}
	url, err := s.maria.Create(t.Context(), fmt.Sprintf("t%d", s.count.Add(1)))
	require.NoError(t, err)
	return url
}

// Open gives a migrated store on a new database; it is closed with the test.
func (s *Suite) Open(t testing.TB, engine string, loc *time.Location) *store.Store {
	t.Helper()
	return OpenURL(t, s.URL(t, engine), loc)
}

// OpenURL opens a database and brings its schema up to date.
func OpenURL(t testing.TB, url string, loc *time.Location) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{URL: url, Location: loc})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	db, done, err := st.MigrationDB()
	require.NoError(t, err)
	_, err = migrations.Up(t.Context(), db, st.Engine(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, done())
	return st
}

// Each runs the test on every engine.
func (s *Suite) Each(t *testing.T, test func(t *testing.T, st *store.Store)) {
	for _, engine := range Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, s.Open(t, engine, time.UTC))
		})
	}
}

// Group writes an executor with the given addresses.
func Group(t testing.TB, st *store.Store, app string, addresses string) model.Group {
	t.Helper()
	g := model.Group{AppName: app, Title: app, AddressType: model.AddressManual, AddressList: addresses, UpdateTime: time.Unix(1767225600, 0)}
	id, err := st.InsertGroup(t.Context(), &g, time.Time{})
	require.NoError(t, err)
	g.ID = id
	return g
}

// Job writes a stopped job that change may alter first.
func Job(t testing.TB, st *store.Store, groupID int, change func(*model.Job)) model.Job {
	t.Helper()
	at := time.Unix(1767225600, 0).In(st.Location())
	j := model.Job{
		GroupID: groupID, Name: "job", Author: "ops", ScheduleType: model.ScheduleCron, ScheduleConf: "* * * * * ?",
		Misfire: model.MisfireSkip, Route: model.RouteFirst, Handler: "demo", Block: model.BlockSerial, GlueType: model.GlueBean,
		AddTime: at, UpdateTime: at, GlueUpdateTime: at,
	}
	if change != nil {
		change(&j)
	}
	id, err := st.InsertJob(t.Context(), &j)
	require.NoError(t, err)
	got, err := st.Job(t.Context(), id)
	require.NoError(t, err)
	return got
}

// Run writes a planned run that change may alter first.
func Run(t testing.TB, st *store.Store, job model.Job, change func(*model.Run)) model.Run {
	t.Helper()
	at := time.Unix(1767225600, 0)
	r := model.Run{
		GroupID: job.GroupID, JobID: job.ID, Handler: job.Handler, Param: job.Param, RetryLeft: job.RetryCount,
		TriggerTime: at, PlannedMS: at.UnixMilli(), Phase: model.PhasePlanned, TriggerType: model.TriggerManual, Owner: "n#1",
	}
	if change != nil {
		change(&r)
	}
	id, err := st.InsertRun(t.Context(), &r, at)
	require.NoError(t, err)
	got, err := st.Run(t.Context(), id)
	require.NoError(t, err)
	return got
}

// End gives an open run its result, as many milliseconds after its instant as its id, with all that is
// kept of it beside the run; nothing follows from it.
func End(t testing.TB, st *store.Store, r model.Run, code int, reason, msg string) {
	t.Helper()
	at := time.UnixMilli(r.PlannedMS + r.ID)
	h := model.Handled{RunID: r.ID, Code: code, Reason: reason, Msg: msg, AtMS: at.UnixMilli()}
	status, err := st.StoreHandled(t.Context(), []model.Handled{h}, at, func(model.Run, map[int]model.Job) []model.Run { return nil })
	require.NoError(t, err)
	require.Equal(t, []model.HandledStatus{model.HandledStored}, status)
}
