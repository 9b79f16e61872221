package store_test

import (
	"cmp"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// fire is what became of one planned fire, told from its rows.
type fire struct {
	day, line string
	class     model.Class
	n         int64
}

// fires counts in Go and knows nothing of SQL: a fire has succeeded when one of its
// attempts has, else it is what its last attempt is, on the day of its first.
func (m *month) fires() (out []fire) {
	attempts := map[int64][]*model.Run{}
	for i := range m.rows {
		r := &m.rows[i]
		attempts[r.FirstAttempt()] = append(attempts[r.FirstAttempt()], r)
	}
	for _, list := range attempts {
		decides := list[len(list)-1]
		for _, r := range list {
			if r.Outcome() == model.OutcomeSucceeded {
				decides = r
			}
		}
		out = append(out, fire{list[0].TriggerTime.In(m.zone).Format(time.DateOnly), decides.Outcome(), decides.Class(), int64(list[0].Fires())})
	}
	return out
}

// recount compares the ledger with the rows, and with lists as people open them.
func (m *month) recount(lists bool) {
	t := m.t
	want := map[string]map[string]int64{}
	add := func(day, line string, n int64) {
		if want[day] == nil {
			want[day] = map[string]int64{}
		}
		want[day][line] += n
	}
	class := map[string]map[model.Class]int64{}
	for _, f := range m.fires() {
		add(f.day, model.LedgerExpected, f.n)
		if f.line != "" {
			add(f.day, f.line, f.n)
		}
		if class[f.day] == nil {
			class[f.day] = map[model.Class]int64{}
		}
		class[f.day][f.class] += f.n
	}
	first, last := m.began.AddDate(0, 0, -3), m.began.AddDate(0, 1, 7)
	lines, err := m.st.Ledger(m.ctx(), first, last)
	require.NoError(t, err)
	got := map[string]map[string]int64{}
	perDay := map[string][]model.Fires{}
	for _, l := range lines {
		if got[l.Day] == nil {
			got[l.Day] = map[string]int64{}
		}
		got[l.Day][l.Reason] += l.Count
		perDay[l.Day] = append(perDay[l.Day], l)
	}
	require.Equal(t, want, got, "at %s", m.now)
	for day, w := range class {
		l := model.NewLedger(day, perDay[day])
		require.Equal(t, [4]int64{w[model.ClassSucceeded], w[model.ClassFailed], w[model.ClassOpen], w[model.ClassNotSent]},
			[4]int64{l.Succeeded, l.Failed, l.Open, l.NotSent}, day)
	}
	m.report(first, last)
	m.counters()
	if !lists {
		return
	}
	for at := model.DayStart(first, 0); at.Before(last); at = model.DayStart(at, 1) {
		day := model.Day(at, 0)
		sum := func(status model.RunStatus, reason string) (n int64) {
			for before := int64(0); ; {
				rows, err := m.st.Runs(m.ctx(), model.RunFilter{Fires: true, Status: status, Reason: reason, From: at, To: model.DayStart(at, 1), Before: before, Limit: 200})
				require.NoError(t, err)
				for _, r := range rows[:min(200, len(rows))] {
					n += int64(r.Fires())
				}
				if len(rows) <= 200 {
					return n
				}
				before = rows[199].ID
			}
		}
		require.Equal(t, want[day][model.LedgerExpected], sum("", ""), day)
		if want[day] == nil {
			continue
		}
		for status, c := range map[model.RunStatus]model.Class{
			model.RunsSucceeded: model.ClassSucceeded, model.RunsFailed: model.ClassFailed, model.RunsOpen: model.ClassOpen, model.RunsMissed: model.ClassNotSent,
		} {
			require.Equal(t, class[day][c], sum(status, ""), "%s %s", day, status)
		}
		for _, r := range model.Reasons() {
			if want[day][r.Code] != 0 || m.rng.IntN(6) == 0 {
				require.Equal(t, want[day][r.Code], sum("", r.Code), "%s %s", day, r.Code)
				require.Equal(t, want[day][r.Code], sum(cmp.Or(model.RunStatus(r.Class), model.RunsAll), r.Code), "%s %s", day, r.Code)
			}
		}
	}
}

// report recounts the daily report, which counts attempts on their own days.
func (m *month) report(first, last time.Time) {
	want := map[string]model.DayCount{}
	for i := range m.rows {
		r := &m.rows[i]
		day := r.TriggerTime.In(m.zone).Format(time.DateOnly)
		c := want[day]
		c.Day = day
		switch {
		case r.Phase == model.PhaseMissed:
			c.Missed += r.Fires()
		case r.Open():
			c.Running++
		case r.HandleCode == model.CodeSuccess:
			c.Succeeded++
		default:
			c.Failed++
		}
		want[day] = c
	}
	rows, err := m.st.Report(m.ctx(), first, last)
	require.NoError(m.t, err)
	got := map[string]model.DayCount{}
	for _, r := range rows {
		got[r.Day] = r
	}
	require.Equal(m.t, want, got, "the daily report at %s", m.now)
}
