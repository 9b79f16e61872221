package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

func ids(list []model.Job) (out []int) {
	for _, j := range list {
		out = append(out, j.ID)
	}
	return out
}

// TestTags: they are stored with a job, found, offered to those who see the job, and go
// with it.
func TestTags(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g, other := storetest.Group(t, st, "app-one", ""), storetest.Group(t, st, "app-two", "")
		a := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Tags = "Nightly, 财务,nightly" })
		b := storetest.Job(t, st, other.ID, func(j *model.Job) { j.Tags = "100%,nightly" })
		storetest.Job(t, st, g.ID, nil)
		require.Equal(t, "nightly,财务", a.Tags)

		find := func(f model.JobFilter) []int {
			f.Limit = 10
			list, total, err := st.Jobs(ctx, f)
			require.NoError(t, err)
			require.Len(t, list, total)
			return ids(list)
		}
		require.Equal(t, []int{b.ID, a.ID}, find(model.JobFilter{Tag: "nightly"}))
		require.Equal(t, []int{a.ID}, find(model.JobFilter{Tag: "nightly", GroupID: g.ID}))
		require.Empty(t, find(model.JobFilter{Tag: "night"}), "whole tags")
		require.Equal(t, []int{b.ID, a.ID}, find(model.JobFilter{Text: "NIGHT"}))
		require.Equal(t, []int{a.ID}, find(model.JobFilter{Text: "财"}))
		require.Equal(t, []int{b.ID}, find(model.JobFilter{Text: "0%"}))

		tags := func(groups []int) []string {
			list, err := st.Tags(ctx, groups, 10)
			require.NoError(t, err)
			return list
		}
		require.Equal(t, []string{"100%", "nightly", "财务"}, tags(nil))
		require.Equal(t, []string{"nightly", "财务"}, tags([]int{g.ID}))
		require.Empty(t, tags([]int{}))

		a.Tags = "weekly"
		require.NoError(t, st.UpdateJob(ctx, &a, false, false, t0))
		read, err := st.Job(ctx, a.ID)
		require.NoError(t, err)
		require.Equal(t, "weekly", read.Tags)
		a.Tags = "stale"
		require.Error(t, st.UpdateJob(ctx, &a, false, false, t0), "somebody else saved")
		require.Equal(t, []string{"100%", "nightly", "weekly"}, tags(nil))
		require.NoError(t, st.DeleteJob(ctx, b.ID, t0))
		require.Equal(t, []string{"weekly"}, tags(nil))
	})
}

// TestRunsByHowTheyBegan: trigger, address and tag narrow the run list, with paging.
func TestRunsByHowTheyBegan(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		a := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Tags = "pay" })
		b := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Tags = "pay,x" })
		c := storetest.Job(t, st, g.ID, nil)
		var all []int64
		for i, j := range []model.Job{a, b, c, a, b, c, a} {
			r := storetest.Run(t, st, j, func(r *model.Run) {
				r.TriggerTime = t0.Add(time.Duration(i) * time.Minute)
				if i%2 == 0 {
					r.TriggerType, r.Address = model.TriggerAPI, "http://10.0.0.1:9999/"
				}
			})
			all = append(all, r.ID)
		}
		find := func(f model.RunFilter) (out []int64) {
			if f.Limit == 0 {
				f.Limit = 10
			}
			list, err := st.Runs(ctx, f)
			require.NoError(t, err)
			for _, r := range list {
				out = append(out, r.ID)
			}
			return out
		}
		require.Equal(t, []int64{all[6], all[4], all[2], all[0]}, find(model.RunFilter{Trigger: model.TriggerAPI}))
		require.Equal(t, []int64{all[6], all[4], all[2], all[0]}, find(model.RunFilter{Address: "10.0.0.1:"}))
		require.Empty(t, find(model.RunFilter{Address: "%"}))
		require.Equal(t, []int64{all[6], all[4], all[3], all[1], all[0]}, find(model.RunFilter{Tag: "pay"}))
		require.Equal(t, []int64{all[4], all[1]}, find(model.RunFilter{Tag: "x"}))
		require.Equal(t, []int64{all[4]}, find(model.RunFilter{Tag: "x", Trigger: model.TriggerAPI}))
		require.Equal(t, []int64{all[6], all[4], all[3]}, find(model.RunFilter{Tag: "pay", Limit: 2}), "one more says that there are more")
		require.Equal(t, []int64{all[3], all[1], all[0]}, find(model.RunFilter{Tag: "pay", Before: all[4]}))
		require.Equal(t, []int64{all[6], all[4]}, find(model.RunFilter{Tag: "pay", After: all[3]}))
		require.Equal(t, []int64{all[4], all[3]}, find(model.RunFilter{Tag: "pay", From: t0.Add(150 * time.Second), To: t0.Add(5 * time.Minute)}))
		require.Equal(t, []int64{all[4], all[1]}, find(model.RunFilter{Tag: "pay", JobID: b.ID}))
		require.Empty(t, find(model.RunFilter{Tag: "nobody"}))
		require.Empty(t, find(model.RunFilter{Tag: "pay", Groups: []int{}}))
		require.Len(t, find(model.RunFilter{Tag: "pay", Groups: []int{g.ID}}), 5)
	})
}

// TestJobsByFigures: the order by mean duration and by failures, page by page, with those
// that have no figure at the end.
func TestJobsByFigures(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		db, done, err := st.MigrationDB()
		require.NoError(t, err)
		defer func() { require.NoError(t, done()) }()
		job := func(ms int64, outcomes ...int) int {
			j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Tags = "t" })
			for _, code := range outcomes {
				r := storetest.Run(t, st, j, nil)
				at := r.PlannedMS
				_, err := db.ExecContext(ctx, `UPDATE xxl_job_log SET run_state = 5, trigger_code = 200, handle_code = ?, sent_time = ?, accepted_time = ?, finished_time = ? WHERE id = ?`,
					code, at, at+10, at+10+ms, r.ID)
				require.NoError(t, err)
			}
			return j.ID
		}
		never := job(0)
		slow := job(5000, 200, 200)
		bad := job(100, 500, 500, 200, 500)
		quick := job(7, 200)
		broken := job(7, 500)

		fresh, newest, err := st.JobsOfNewRuns(ctx, 0, 1000)
		require.NoError(t, err)
		require.ElementsMatch(t, []int{slow, bad, quick, broken}, fresh)
		again, _, err := st.JobsOfNewRuns(ctx, newest, 1000)
		require.NoError(t, err)
		require.Empty(t, again)
		every, err := st.JobsAfter(ctx, 0, 3)
		require.NoError(t, err)
		require.Equal(t, []int{never, slow, bad}, every)
		storetest.Run(t, st, model.Job{ID: quick, GroupID: g.ID}, nil)
		open, err := st.JobsOfOpenRuns(ctx, 10)
		require.NoError(t, err)
		require.Equal(t, []int{quick}, open)
		require.NoError(t, st.CountJobStats(ctx, append(fresh, never, 99999), t0))
		require.NoError(t, st.CountJobStats(ctx, fresh, t0))

		page := func(f model.JobFilter) []int {
			list, _, err := st.Jobs(ctx, f)
			require.NoError(t, err)
			return ids(list)
		}
		for _, f := range []model.JobFilter{{}, {GroupID: g.ID}, {Tag: "t"}, {Text: "job"}} {
			f.Sort, f.Limit = model.JobsByDuration, 10
			require.Equal(t, []int{slow, bad, quick, broken, never}, page(f))
			f.Sort = model.JobsByFailures
			require.Equal(t, []int{broken, bad, quick, slow, never}, page(f))
			f.Sort = model.JobsByDuration
			var walked []int
			for f.Limit = 2; f.Offset < 6; f.Offset += 2 {
				walked = append(walked, page(f)...)
			}
			require.Equal(t, []int{slow, bad, quick, broken, never}, walked)
			f.Offset = 20
			require.Empty(t, page(f))
		}
		require.NoError(t, st.DeleteJob(ctx, slow, t0))
		require.Equal(t, bad, page(model.JobFilter{Sort: model.JobsByDuration, Limit: 1})[0])
	})
}

// TestWhatPeopleKeep: favourites, filters and columns belong to a user, are bounded and go
// with the user or the job.
func TestWhatPeopleKeep(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		a, b := storetest.Job(t, st, g.ID, nil), storetest.Job(t, st, g.ID, nil)
		_, err := st.InsertUser(ctx, &model.User{Name: "root", PasswordHash: "x", Role: model.RoleAdmin})
		require.NoError(t, err)
		uid, err := st.InsertUser(ctx, &model.User{Name: "olga", PasswordHash: "x"})
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, st.SetFavourite(ctx, uid, a.ID, true))
		}
		require.NoError(t, st.SetFavourite(ctx, uid, b.ID, true))
		require.NoError(t, st.SetFavourite(ctx, uid, b.ID, false))
		require.NoError(t, st.SetFavourite(ctx, uid+1, b.ID, true))
		marked, err := st.Favourites(ctx, uid, []int{a.ID, b.ID})
		require.NoError(t, err)
		require.Equal(t, map[int]bool{a.ID: true}, marked)
		list, total, err := st.Jobs(ctx, model.JobFilter{Marked: uid, Limit: 10})
		require.NoError(t, err)
		require.Equal(t, []int{a.ID}, ids(list))
		require.Equal(t, 1, total)
		require.NoError(t, st.DeleteJob(ctx, a.ID, t0))
		marked, err = st.Favourites(ctx, uid, []int{a.ID})
		require.NoError(t, err)
		require.Empty(t, marked)

		keep := func(list, name, query string) error {
			return st.SaveFilter(ctx, uid, model.SavedFilter{List: list, Name: name, Query: query})
		}
		require.NoError(t, keep("jobs", "夜间", "tag=nightly"))
		require.NoError(t, keep("jobs", "夜间", "tag=weekly"))
		require.NoError(t, keep("jobs", "b", "q=1"))
		require.NoError(t, keep("runs", "夜间", "status=failed"))
		filters, err := st.Filters(ctx, uid, "jobs")
		require.NoError(t, err)
		require.Equal(t, []model.SavedFilter{{List: "jobs", Name: "b", Query: "q=1"}, {List: "jobs", Name: "夜间", Query: "tag=weekly"}}, filters)
		require.Equal(t, model.CodeConflict, model.CodeOf(st.RenameFilter(ctx, uid, "jobs", "b", "夜间")))
		require.Equal(t, model.CodeNotFound, model.CodeOf(st.RenameFilter(ctx, uid+1, "jobs", "b", "c")), "those of others")
		require.NoError(t, st.RenameFilter(ctx, uid, "jobs", "b", "c"))
		require.NoError(t, st.DeleteFilter(ctx, uid, "jobs", "夜间"))
		for i := range model.MaxFilters - 1 {
			require.NoError(t, keep("jobs", string(rune('A'+i)), "q=2"))
		}
		require.ErrorContains(t, keep("jobs", "one too many", "q=3"), "too_many_filters")
		require.NoError(t, keep("jobs", "c", "q=3"), "but the same name again")

		want := model.Columns("").With("jobs", []string{"schedule", "duration"})
		require.NoError(t, st.SetColumns(ctx, uid, want))
		u, err := st.User(ctx, uid)
		require.NoError(t, err)
		require.True(t, u.Columns.Shows("jobs", "duration"))
		require.False(t, u.Columns.Shows("jobs", "mode"))
		require.True(t, u.Columns.Shows("runs", "late"))
		require.NoError(t, st.DeleteUser(ctx, uid))
		filters, err = st.Filters(ctx, uid, "jobs")
		require.NoError(t, err)
		require.Empty(t, filters)
	})
}
