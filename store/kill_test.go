package store_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestKill goes through the orders in which the word of a person, the answer of the
// executor to the order and the result of the run may come.
func TestKill(t *testing.T) {
	const (
		mark  = "mark"
		taken = "taken"
		back  = "back"
	)
	report := map[string]int{"succeeds": 200, "fails": 500, "stops": 408}
	tests := []struct {
		name   string
		steps  []string // words that are in one string come in one batch
		result model.RunResult
		code   int
		msg    string
		fresh  int // retries and children
	}{
		{"killed", []string{mark, taken}, model.ResultKilled, 500, "killed_by Name=ann", 0},
		{"its success comes before the answer", []string{mark, "succeeds", taken, "succeeds"}, model.ResultKilled, 500, "words", 0},
		{"in one batch", []string{mark, "succeeds taken"}, model.ResultKilled, 500, "words", 0},
		{"its success comes after the answer", []string{mark, taken, "succeeds", "succeeds"}, model.ResultKilled, 500, "words", 0},
		{"its failure comes before the answer", []string{mark, "fails", taken, "fails"}, model.ResultKilled, 500, "words", 0},
		{"it says itself that it was killed", []string{mark, "stops", taken}, model.ResultKilled, 408, "words", 0},
		{"it had ended", []string{"succeeds", mark, taken}, model.ResultSucceeded, 200, "words", 1},
		{"the order did not arrive", []string{mark, back, "succeeds"}, model.ResultSucceeded, 200, "words", 1},
		{"it succeeded before the order did not arrive", []string{mark, "succeeds", back, "succeeds"}, model.ResultSucceeded, 200, "words", 1},
		{"the same in one batch", []string{mark, "succeeds back"}, model.ResultSucceeded, 200, "words", 1},
		{"it failed before the order did not arrive", []string{mark, "fails", back}, model.ResultFailed, 500, "words", 1},
		{"nobody knows whether the order arrived", []string{mark, "succeeds"}, model.ResultKilled, 408, "words", 0},
		{"a second order does not arrive", []string{mark, taken, back}, model.ResultKilled, 500, "killed_by Name=ann", 0},
	}
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		child := storetest.Job(t, st, g.ID, nil)
		want := model.DayCount{Day: "2026-01-01"}
		for _, tt := range tests {
			job := storetest.Job(t, st, g.ID, func(j *model.Job) { j.ChildIDs, j.RetryCount = strconv.Itoa(child.ID), 1 })
			r := storetest.Run(t, st, job, func(r *model.Run) {
				r.Phase, r.TriggerCode, r.Address, r.RetryLeft = model.PhaseAccepted, 200, "http://a/", 1
			})
			fresh := 0
			for _, step := range tt.steps {
				if step == mark {
					ok, err := st.MarkKill(ctx, &r)
					require.NoError(t, err, tt.name)
					require.Equal(t, tt.result != model.ResultSucceeded || tt.steps[0] == mark, ok, tt.name)
					continue
				}
				var batch []model.Handled
				for _, word := range strings.Fields(step) {
					h := model.Handled{RunID: r.ID, Code: report[word], Msg: "words", AtMS: 5}
					switch word {
					case taken:
						h.Code, h.Reason, h.Msg, h.Said = 500, model.ReasonKilled, "", []model.Said{model.Say("killed_by", "Name", "ann")}
					case back:
						h.Code, h.Reason, h.Msg = 0, model.ReasonKillUntaken, ""
					}
					batch = append(batch, h)
				}
				follow := rule.Follower(t0, "n#1")
				_, err := st.StoreHandled(ctx, batch, t0, func(r model.Run, jobs map[int]model.Job) []model.Run {
					list := follow(r, jobs)
					fresh += len(list)
					return list
				})
				require.NoError(t, err, tt.name)
			}
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Equal(t, tt.result, got.Result(), tt.name)
			require.Equal(t, tt.code, got.HandleCode, tt.name)
			require.Equal(t, tt.msg, got.HandleMsg, tt.name)
			require.Equal(t, tt.fresh, fresh, tt.name)
			require.Equal(t, model.PhaseFinished, got.Phase, tt.name)
			if tt.result == model.ResultSucceeded {
				want.Succeeded++
			} else {
				want.Failed++
			}
			want.Running += tt.fresh
			rep, err := st.Report(ctx, t0, t0)
			require.NoError(t, err)
			require.Equal(t, []model.DayCount{want}, rep, tt.name)
		}
	})
}

// TestKillReachesOtherRunsOfTheJob: the wire kills by job, but only the run that a
// person asked about counts as killed when it succeeds all the same.
func TestKillReachesOtherRunsOfTheJob(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		job := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, nil)
		add := func() model.Run {
			return storetest.Run(t, st, job, func(r *model.Run) { r.Phase, r.TriggerCode, r.Address = model.PhaseAccepted, 200, "http://a/" })
		}
		end := func(r model.Run, h model.Handled) model.RunResult {
			h.RunID = r.ID
			_, err := st.StoreHandled(ctx, []model.Handled{h}, t0, nil)
			require.NoError(t, err)
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			return got.Result()
		}
		asked, waits, goesOn := add(), add(), add()
		_, err := st.MarkKill(ctx, &asked)
		require.NoError(t, err)
		require.Equal(t, model.ResultKilled, end(asked, model.Handled{Code: 500, Reason: model.ReasonKilled}))
		require.Equal(t, model.ResultKilled, end(waits, model.Handled{Code: 500}), "it ended with the other")
		require.Equal(t, model.ResultSucceeded, end(goesOn, model.Handled{Code: 200}))

		asked, goesOn = add(), add()
		_, err = st.MarkKill(ctx, &asked)
		require.NoError(t, err)
		require.Equal(t, model.ResultRunning, end(asked, model.Handled{Reason: model.ReasonKillUntaken}))
		require.Equal(t, model.ResultFailed, end(goesOn, model.Handled{Code: 500}), "no order arrived, it failed by itself")
	})
}
