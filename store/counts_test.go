package store_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// fold brings the counters up to date.
func fold(t *testing.T, st *store.Store, now time.Time) {
	for more := true; more; {
		var err error
		more, err = st.FoldCounts(t.Context(), now)
		require.NoError(t, err)
	}
}

// counted is what a counter says, to be compared.
type counted struct {
	Expected, Succeeded, Rescued, Failed, Missed, Excused, Late, TookRuns, TookMS int64
	Lines                                                                         map[string]int64
	Hours                                                                         model.Hours
}

func newCounted() *counted { return &counted{Lines: map[string]int64{}, Hours: model.Hours{}} }

func asCounted(c *model.Counter) counted {
	return counted{c.Expected, c.Succeeded, c.Rescued, c.Failed, c.Missed, c.Excused, c.Late, c.TookRuns, c.TookMS, c.Lines, c.Hours}
}

// counters compares the counters of reports with the rows: by hand, and with no word of
// what the store knows of them.
func (m *month) counters() {
	t := m.t
	fold(t, m.st, m.now)
	attempts := map[int64][]*model.Run{}
	for i := range m.rows {
		r := &m.rows[i]
		attempts[r.FirstAttempt()] = append(attempts[r.FirstAttempt()], r)
	}
	want := map[string]*counted{} // unit, first day, job, executor
	for _, list := range attempts {
		first, decides := list[0], list[len(list)-1]
		for _, r := range slices.Backward(list) {
			if r.HandleCode == 200 {
				decides = r
			}
		}
		at := time.UnixMilli(first.PlannedMS).In(m.zone)
		monday := at.AddDate(0, 0, -(int(at.Weekday())+6)%7)
		for _, start := range []string{"1 " + at.Format(time.DateOnly), "2 " + monday.Format(time.DateOnly), "3 " + at.Format("2006-01") + "-01"} {
			for _, job := range []int{0, first.JobID} {
				key := fmt.Sprint(start, " ", job, " ", first.GroupID)
				if want[key] == nil {
					want[key] = newCounted()
				}
				c, n := want[key], int64(max(1, first.MissedFires))
				hour := (int(at.Weekday())+6)%7*24 + at.Hour()
				cell := c.Hours[hour]
				c.Expected += n
				cell.Expected += n
				out := decides.Outcome()
				switch decides.Class() {
				case model.ClassSucceeded:
					c.Succeeded += n
					if decides != first {
						c.Rescued += n
					}
					start := decides.AcceptedMS
					if start == 0 {
						start = decides.SentMS
					}
					if start > 0 && decides.FinishedMS > 0 {
						c.TookRuns += n
						c.TookMS += max(0, decides.FinishedMS-start) * n
					}
				case model.ClassFailed:
					c.Failed += n
					cell.Failed += n
					c.Lines[out] += n
				case model.ClassNotSent:
					c.Missed += n
					cell.Missed += n
					c.Lines[out] += n
				}
				switch out {
				case "paused", "cancelled", "taken_back", "killed", "covered", "discarded", "overlap":
					c.Excused += n
				}
				if out != "" && first.SentMS > first.PlannedMS+10_000 {
					c.Late += n
				}
				c.Hours[hour] = cell
			}
		}
	}
	var jobs []int
	for id := range 200 {
		jobs = append(jobs, id)
	}
	got := map[string]*counted{}
	for unit, first := range map[model.Unit]time.Time{model.UnitDay: m.began, model.UnitWeek: m.began, model.UnitMonth: m.began} {
		span := model.Span{Unit: unit, First: first.AddDate(0, -2, 0).Format(time.DateOnly), Last: first.AddDate(0, 3, 0).Format(time.DateOnly)}
		for _, f := range []model.CounterFilter{{}, {JobIDs: jobs}} {
			list, err := m.st.Counters(m.ctx(), []model.Span{span}, f)
			require.NoError(t, err)
			for _, c := range list {
				x := asCounted(c)
				require.Equal(t, x.TookRuns, c.Took.Total())
				if !c.Zero() {
					got[fmt.Sprint(int(c.Unit), " ", c.Start, " ", c.JobID, " ", c.GroupID)] = &x
				}
			}
		}
	}
	require.Equal(t, want, got, "the counters at %s", m.now)
	m.packs()
}

// packs compares what is read from packs with the sums of the counters, narrowed in all ways.
func (m *month) packs() {
	t := m.t
	one, err := m.st.Job(m.ctx(), m.jobs[0])
	require.NoError(t, err)
	for _, f := range []model.CounterFilter{
		{}, {GroupID: one.GroupID}, {Groups: []int{}}, {Groups: []int{one.GroupID}}, {JobIDs: []int{one.ID}}, {JobIDs: []int{}}, {Owner: one.Author}, {Owner: "nobody"}, {Tag: "none"},
		{Owner: one.Author, GroupID: one.GroupID, JobIDs: []int{one.ID, 7777}},
	} {
		first, last := model.Date(m.began).AddDate(0, -1, 3), model.Date(m.began).AddDate(0, 1, 9)
		spans := model.Spans(first, last)
		total, byJob := model.NewCounter(0, "", 0, 0), map[int][9]int64{}
		rows := f
		if f.All() {
			for id := 1; id < 200; id++ {
				rows.JobIDs = append(rows.JobIDs, id)
			}
		}
		list, err := m.st.Counters(m.ctx(), spans, rows)
		require.NoError(t, err)
		for _, c := range list {
			n, sum := c.Pack().N, byJob[c.JobID]
			for i := range sum {
				sum[i] += n[i]
			}
			byJob[c.JobID] = sum
			total.Add(c)
		}
		got := map[int][9]int64{}
		jobs, err := m.st.CountersByJob(m.ctx(), spans, f)
		require.NoError(t, err)
		for _, c := range jobs {
			got[c.JobID] = c.Pack().N
		}
		require.Equal(t, byJob, got, "%+v", f)
		sum, err := m.st.CounterTotal(m.ctx(), spans, f)
		require.NoError(t, err)
		require.Equal(t, total, sum, "%+v", f)

		span := model.Span{Unit: model.UnitDay, First: first.Format(time.DateOnly), Last: last.Format(time.DateOnly)}
		byDay, days := map[string][9]int64{}, map[string][9]int64{}
		list, err = m.st.Counters(m.ctx(), []model.Span{span}, rows)
		require.NoError(t, err)
		for _, c := range list {
			n, sum := c.Pack().N, byDay[c.Start]
			for i := range sum {
				sum[i] += n[i]
			}
			byDay[c.Start] = sum
		}
		list, err = m.st.CountersByUnit(m.ctx(), span, f)
		require.NoError(t, err)
		for _, c := range list {
			days[c.Start] = c.Pack().N
		}
		require.Equal(t, byDay, days, "%+v", f)
	}
}

func TestPacks(t *testing.T) {
	var p model.CountPack
	for _, id := range []int{7, 3, 200, 3} {
		p = p.Put(model.PackedCount{JobID: id, GroupID: 2, N: [9]int64{int64(len(p)), -5, 1 << 40}})
	}
	p = p.Put(model.PackedCount{JobID: 3, GroupID: 1})
	back, err := model.DecodePack(p.Encode())
	require.NoError(t, err)
	require.Equal(t, p, back)
	require.Len(t, back, 4)
	require.Equal(t, int64(3), back[1].N[0], "the later numbers of job 3 on executor 2")
	for _, bad := range [][]byte{{0x80}, {2}, p.Encode()[:5]} {
		_, err = model.DecodePack(bad)
		require.ErrorIs(t, err, model.ErrBadCount)
		none := func(int, int) bool { return false }
		require.ErrorIs(t, model.EachPacked(bad, none, func(*model.PackedCount) {}), model.ErrBadCount)
	}
	var some []model.PackedCount
	want := func(job, group int) bool { return job == 200 || group == 1 }
	require.NoError(t, model.EachPacked(p.Encode(), want, func(c *model.PackedCount) { some = append(some, *c) }))
	require.Equal(t, []model.PackedCount{p[0], p[3]}, some, "those between are passed over")
}

func TestTookIsRightWithinATwentieth(t *testing.T) {
	took := model.Took{}
	for ms := int64(1); ms <= 100_000; ms++ {
		took[model.TookBucket(ms)]++
	}
	for _, q := range []float64{0.05, 0.5, 0.95, 1} {
		want := q * 100_000
		require.Less(t, math.Abs(float64(took.Quantile(q))-want)/want, 0.06, "%v", q)
	}
	require.EqualValues(t, -1, model.Took{}.Quantile(0.5))
	back, err := model.DecodeTook(took.Encode())
	require.NoError(t, err)
	require.Equal(t, took, back)
	_, err = model.DecodeTook([]byte{0x80})
	require.ErrorIs(t, err, model.ErrBadCount)
}

func TestSpansAreTheDays(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		require.NoError(t, err)
		return d
	}
	for first := day("2026-01-25"); first.Before(day("2026-04-04")); first = first.AddDate(0, 0, 1) {
		for last := first; last.Before(day("2026-07-05")); last = last.AddDate(0, 0, 3) {
			var days []string
			for _, x := range model.Spans(first, last) {
				for at := day(x.First); !at.After(day(x.Last)); at = x.Unit.Next(at, 1) {
					require.Equal(t, at, x.Unit.Start(at))
					for d := at; d.Before(x.Unit.Next(at, 1)); d = d.AddDate(0, 0, 1) {
						days = append(days, d.Format(time.DateOnly))
					}
				}
			}
			var want []string
			for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
				want = append(want, d.Format(time.DateOnly))
			}
			require.Equal(t, want, days)
		}
	}
	require.LessOrEqual(t, len(model.Spans(day("2026-01-02"), day("2026-12-30"))), 7)
}

// TestCountersAreMended: whatever became of the counters, counting the day anew sets them right.
func TestCountersAreMended(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Kathmandu") // 5:45 from UTC
	require.NoError(t, err)
	for n, engine := range storetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			m := newMonth(t, suite.Open(t, engine, zone), time.Date(2026, 5, 1, 0, 0, 0, 0, zone), uint64(n+40))
			for range 12 {
				m.now = m.now.Add(3 * time.Hour)
				m.plan(m.now)
				for range 6 {
					m.read()
					m.something()
				}
			}
			m.read()
			m.counters()
			// As on the day on which the counters come: none of them is there. What waits in
			// the journal is part of the runs.
			m.now = m.now.Add(3 * time.Hour)
			m.plan(m.now)
			write(t, m.st, `DELETE FROM carillon_count`)
			write(t, m.st, `UPDATE carillon_count_pack SET pack = pack + 1`) // spoiled
			for day := m.began; day.Before(m.now.AddDate(0, 0, 2)); day = day.AddDate(0, 0, 1) {
				_, _, err := m.st.RecountDay(t.Context(), day, m.now)
				require.NoError(t, err)
				_, changed, err := m.st.RecountDay(t.Context(), day, m.now)
				require.NoError(t, err)
				require.False(t, changed, "what is right stays")
			}
			m.read()
			m.counters()
		})
	}
}

// TestClearingBetweenAttempts: runs are removed by hand while the retry of one waits. Its
// fire still belongs to the day and hour of the first attempt.
func TestClearingBetweenAttempts(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx, at := t.Context(), time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)
		g := storetest.Group(t, st, "app", "http://127.0.0.1:1/")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.RetryCount, j.RetryDelaySec = 1, 3600 })
		accepted := func(r *model.Run) {
			r.TriggerTime, r.PlannedMS, r.Phase, r.TriggerCode = at, at.UnixMilli(), model.PhaseAccepted, 200
		}
		failed, over := storetest.Run(t, st, j, accepted), storetest.Run(t, st, j, accepted)
		end := func(run int64, code int, now time.Time) {
			status, err := st.StoreHandled(ctx, []model.Handled{{RunID: run, Code: code, AtMS: now.UnixMilli()}}, now, rule.Follower(now, "n#1"))
			require.NoError(t, err)
			require.Equal(t, []model.HandledStatus{model.HandledStored}, status)
		}
		end(failed.ID, 500, at.Add(time.Minute))
		end(over.ID, 200, at.Add(time.Minute))
		retry := over.ID + 1
		for _, scope := range []model.ClearScope{{JobID: j.ID}, {Before: at.Add(30 * time.Minute)}, {BeforeID: retry}} {
			n, err := st.CountClear(ctx, scope, 100)
			require.NoError(t, err)
			require.Equal(t, 1, n, "the fire whose retry waits stays")
		}
		n, err := st.ClearRuns(ctx, model.ClearScope{JobID: j.ID}, 100, at.Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, 1, n)

		now := at.Add(2 * time.Hour) // the next day
		claimed, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: retry, Address: "http://127.0.0.1:1/"}}, now.UnixMilli())
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		end(retry, 200, now)
		fold(t, st, now)
		days, err := st.Counters(ctx, []model.Span{{Unit: model.UnitDay, First: "2026-11-01", Last: "2026-11-30"}}, model.CounterFilter{})
		require.NoError(t, err)
		require.Len(t, days, 1)
		require.Equal(t, "2026-11-20", days[0].Start)
		require.Equal(t, [4]int64{2, 2, 1, 0}, [4]int64{days[0].Expected, days[0].Succeeded, days[0].Rescued, days[0].Open()})

		for _, scope := range []model.ClearScope{{Before: at.Add(30 * time.Minute)}, {BeforeID: retry}} {
			n, err := st.CountClear(ctx, scope, 100)
			require.NoError(t, err)
			require.Zero(t, n, "its last attempt is beyond what goes")
		}
		n, err = st.ClearRuns(ctx, model.ClearScope{JobID: j.ID}, 100, now)
		require.NoError(t, err)
		require.Equal(t, 2, n)
	})
}
