package e2e

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// seededWorld is a center on a database with a week of runs of every outcome. Nothing
// in it moves by itself: what is open waits for an hour that is to come.
func seededWorld(t *testing.T, change ...func(*app.ServeCmd)) (*world, *store.Store) {
	t.Helper()
	url := "sqlite:" + t.TempDir() + "/seeded.db"
	st := storetest.OpenURL(t, url, time.Local)
	seed(t, st, time.Now())
	log := &buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the center:\n%s", log)
		}
	})
	cfg := app.ServeCmd{
		Listen: "127.0.0.1:0", DatabaseFlags: app.DatabaseFlags{Database: url, Timezone: "Local"},
		AccessToken: token, AdminPassword: password, Lang: "zh-Hans", Migrate: true, RetentionDays: 0, // runs of storetest are old
		RegistryTimeout: 90 * time.Second, ExecutorTimeout: 3 * time.Second,
	}
	for _, c := range change {
		c(&cfg)
	}
	center, err := app.Start(context.Background(), cfg, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, center.Stop(context.Background())) })
	w := &world{t: t, url: strings.TrimSuffix(center.URL, "/")}
	w.admin = w.logIn()
	return w, st
}

// seeder writes runs as the scheduler does.
type seeder struct {
	t   *testing.T
	st  *store.Store
	job model.Job
	at  time.Time // of the next fire
}

const seedOwner = "seed#1"

func seed(t *testing.T, st *store.Store, now time.Time) {
	t.Helper()
	group := storetest.Group(t, st, "settlement", "http://10.0.4.16:9999/,http://10.0.4.17:9999/")
	other := storetest.Group(t, st, "search", "http://10.0.2.31:9999/")
	s := &seeder{t: t, st: st}
	s.job = storetest.Job(t, st, group.ID, func(j *model.Job) { j.Name, j.RetryCount = "Exchange rates", 1 })
	elsewhere := storetest.Job(t, st, other.ID, func(j *model.Job) { j.Name = "Search index" })
	for back := 6; back >= 0; back-- {
		// Early in the day, but for today, whose runs have just been.
		s.at = model.DayStart(now, -back).Add(3 * time.Hour)
		if back == 0 {
			s.at = now.Add(-2 * time.Minute)
		}
		for i := range 30 - 3*back {
			s.ended(200, "", "", model.Said{})
			if i%9 == 0 {
				s.ended(500, "write rates: duplicate key (EUR, 2026-11-20)\n    at rates.Fetch(fetch.go:41)", "", model.Said{})
			}
		}
		s.missed(model.ReasonMisfire, 1+back)
	}
	for back := 1; back < 30; back++ { // as if older ones had been there
		require.NoError(t, st.AddRemoved(t.Context(), now.AddDate(0, 0, -back), model.RetentionDay{
			Succeeded: int64(1800 + 97*(back%7)), Failed: int64(30 * (back % 5)), Missed: int64(12 * (back % 3)), ByHand: int64(back / 20 * 400), AuditLines: int64(back), BusyMS: 900, Passes: 144,
		}))
	}
	s.at = now.Add(-time.Minute)
	for _, info := range model.Reasons() {
		s.reason(info)
	}
	s.retried(true)
	s.retried(false)
	s.overMidnight(model.DayStart(now, 0))
	// What is open: in an hour, by a retry, and on its way.
	s.at = now
	s.planned(now.Add(time.Hour))
	s.planned(now.Add(2 * time.Hour))
	s.sent(200)
	s.job = elsewhere
	s.ended(200, "", "", model.Said{})
	s.ended(500, "index shard 7 of 12 is closed", "", model.Said{})
}

// run writes a run that is planned.
func (s *seeder) run(change func(*model.Run)) model.Run {
	s.at = s.at.Add(time.Second / 4)
	return storetest.Run(s.t, s.st, s.job, func(r *model.Run) {
		r.TriggerTime, r.PlannedMS, r.TriggerType, r.Owner, r.RetryLeft = s.at.Truncate(time.Second), s.at.UnixMilli(), model.TriggerCron, seedOwner, 0
		if change != nil {
			change(r)
		}
	})
}

func (s *seeder) planned(at time.Time) {
	s.run(func(r *model.Run) { r.TriggerTime, r.PlannedMS = at.Truncate(time.Second), at.UnixMilli() })
}

func (s *seeder) missed(reason string, fires int) {
	s.run(func(r *model.Run) {
		r.Phase, r.TriggerCode, r.Reason, r.AlarmStatus, r.MissedFires, r.TriggerType = model.PhaseMissed, model.CodeMissed, reason, 1, fires, model.TriggerMisfire
		r.Note.Said = []model.Said{model.Say(reason, "LateMS", 3_723_000, "Strategy", "DO_NOTHING", "FromAt", s.at.UnixMilli(), "UntilAt", s.at.Add(time.Hour).UnixMilli(),
			"Name", "olga", "Owner", "carillon-2#7", "WaitedMS", 600_000, "Run", "42", "Chain", "1 > 2 > 1", "Max", 20, "Address", seedAddress, "Text", "busy")}
		if fires > 1 {
			r.Note.Said = append(r.Note.Said, model.Say("stands_for", "Count", fires, "FromAt", s.at.UnixMilli()))
		}
	})
}

const seedAddress = "http://10.0.4.16:9999/"

// claim sends a run.
func (s *seeder) claim(r model.Run) model.Run {
	got, err := s.st.ClaimRuns(s.t.Context(), seedOwner, []model.Claim{{RunID: r.ID, Address: seedAddress}}, r.PlannedMS+6)
	require.NoError(s.t, err)
	require.True(s.t, got[r.ID])
	return r
}

func (s *seeder) record(r model.Run, phase model.RunPhase, code int, reason string, note model.Note, follow model.Follow) {
	note.Route = []model.Attempt{
		{Address: "http://10.0.4.17:9999/", Asked: model.AskedBeat, Text: "dial tcp 10.0.4.17:9999: connect: connection refused", MS: 2},
		{Address: seedAddress, Asked: model.AskedBeat, Code: 200, MS: 4},
		{Address: seedAddress, Asked: model.AskedRun, Code: code, At: r.PlannedMS + 6, MS: 11},
	}
	require.NoError(s.t, s.st.RecordDispatches(s.t.Context(), seedOwner, []model.Dispatch{{
		RunID: r.ID, Phase: phase, Code: code, Reason: reason, Note: note, AtMS: r.PlannedMS + 20, SentMS: r.PlannedMS + 6,
	}}, s.at, follow))
}

func (s *seeder) sent(code int) model.Run {
	r := s.claim(s.run(nil))
	s.record(r, model.PhaseAccepted, code, "", model.Note{}, nil)
	return r
}

// ended is a run that an executor had.
func (s *seeder) ended(code int, msg, reason string, said model.Said) {
	h := model.Handled{RunID: s.sent(200).ID, Code: code, Msg: msg, Reason: reason, AtMS: s.at.UnixMilli() + 840}
	if said.Code != "" {
		h.Said = []model.Said{said}
	}
	_, err := s.st.StoreHandled(s.t.Context(), []model.Handled{h}, s.at, nil)
	require.NoError(s.t, err)
}

// reason makes runs that ended for it.
func (s *seeder) reason(info model.ReasonInfo) {
	const app, text = "settlement", "dial tcp 10.0.4.16:9999: connect: connection refused"
	switch {
	case info.Class == model.ClassNotSent:
		s.missed(info.Code, 1+len(info.Code)%4)
	case info.Code == model.ReasonTimeout:
		s.ended(502, "", "", model.Say("sdk_timeout", "LimitMS", 30_000))
	case info.Code == model.ReasonError:
		s.ended(500, "", "", model.Say("sdk_no_handler", "Handler", "fetchRates"))
	case info.Code == model.ReasonLost:
		s.ended(500, "", info.Code, model.Say("lost_idle", "Address", seedAddress))
	case info.Code == model.ReasonKilled:
		s.ended(500, "", info.Code, model.Say("killed_by", "Name", "olga"))
	case info.Code == model.ReasonCovered:
		s.ended(500, "interrupted", info.Code, model.Say(info.Code, "Run", 42))
	default:
		s.record(s.claim(s.run(nil)), model.PhaseFinished, 500, info.Code, model.Note{Said: []model.Said{
			model.Say(info.Code, "Address", seedAddress, "Text", text, "App", app, "Addresses", seedAddress, "ID", 7),
		}}, nil)
	}
}

// retried is a fire whose first attempt failed; the second one succeeds, or waits.
func (s *seeder) retried(succeeds bool) {
	r := s.claim(s.run(func(r *model.Run) { r.RetryLeft = 1 }))
	later := s.at.Add(time.Hour)
	if succeeds {
		later = s.at
	}
	s.record(r, model.PhaseFinished, 500, model.ReasonUnreached, model.Note{}, rule.Follower(later, seedOwner))
	if succeeds {
		s.succeed(r)
	}
}

// overMidnight is a fire of yesterday whose second attempt succeeded today.
func (s *seeder) overMidnight(midnight time.Time) {
	s.at = midnight.Add(-time.Second)
	r := s.claim(s.run(func(r *model.Run) { r.RetryLeft = 1 }))
	s.record(r, model.PhaseFinished, 500, model.ReasonUnreached, model.Note{}, rule.Follower(midnight.Add(time.Second), seedOwner))
	s.succeed(r)
}

// succeed ends the retry of a run well.
func (s *seeder) succeed(first model.Run) {
	list, err := s.st.Runs(s.t.Context(), model.RunFilter{JobID: s.job.ID, Limit: 1})
	require.NoError(s.t, err)
	require.Equal(s.t, first.ID, list[0].FirstID)
	s.claim(list[0])
	_, err = s.st.StoreHandled(s.t.Context(), []model.Handled{{RunID: list[0].ID, Code: 200, AtMS: list[0].PlannedMS + 50}}, s.at, nil)
	require.NoError(s.t, err)
}
