package jobs_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestLinkedRunsOfOthersStayHidden: a child in an executor that the actor may
// not see has no line on the page of its parent.
func TestLinkedRunsOfOthersStayHidden(t *testing.T) {
	w := newWorld(t)
	second := storetest.Group(t, w.store, "app-two", "")
	mine := storetest.Job(t, w.store, w.group.ID, nil)
	secret := storetest.Job(t, w.store, second.ID, func(j *model.Job) { j.Name = "secret child" })
	parent := storetest.Run(t, w.store, mine, nil)
	child := storetest.Run(t, w.store, secret, func(r *model.Run) { r.ParentID = parent.ID })
	own := storetest.Run(t, w.store, mine, func(r *model.Run) { r.ParentID = parent.ID })
	ids := func(a model.Actor) (out []int64) {
		d, err := w.Run(t.Context(), a, parent.ID)
		require.NoError(t, err)
		for _, r := range d.Linked {
			out = append(out, r.ID)
		}
		return out
	}
	require.Equal(t, []int64{child.ID, own.ID}, ids(admin()))
	require.Equal(t, []int64{own.ID}, ids(model.Actor{UserID: 2, Groups: []int{w.group.ID}}))
}

// TestAJobWithAChildOfOthersCanBeSaved by who may edit it; adding one cannot.
func TestAJobWithAChildOfOthersCanBeSaved(t *testing.T) {
	w := newWorld(t)
	second := storetest.Group(t, w.store, "app-two", "")
	theirs := storetest.Job(t, w.store, second.ID, nil)
	another := storetest.Job(t, w.store, second.ID, nil)
	id := w.add(t, func(in *jobs.JobInput) { in.ChildIDs = fmt.Sprint(theirs.ID) })
	mine := model.Actor{UserID: 4, Groups: []int{w.group.ID}}
	in := w.input()
	in.Name, in.ChildIDs = "renamed", fmt.Sprint(theirs.ID)
	require.NoError(t, w.edit(t, mine, id, in))
	require.Equal(t, in.ChildIDs, w.get(t, id).ChildIDs)
	in.ChildIDs = fmt.Sprint(another.ID)
	foreign := w.edit(t, mine, id, in)
	require.ErrorContains(t, foreign, "child_ids: error.child_missing")
	in.ChildIDs = "4711"
	require.ErrorContains(t, w.edit(t, mine, id, in), "child_ids: error.child_missing", "as one that does not exist")
}

// TestTextsThatNoDatabaseTakes are refused where they come in.
func TestTextsThatNoDatabaseTakes(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, nil)
	bad := "a\xffb"
	_, err := w.RunNow(t.Context(), admin(), id, jobs.RunInput{Param: &bad})
	require.ErrorContains(t, err, "param: field.control_chars")
	_, err = w.RunNow(t.Context(), admin(), id, jobs.RunInput{Addresses: "http://a/\xff"})
	require.ErrorContains(t, err, "addresses: field.address")
	_, err = w.RunNow(t.Context(), admin(), id, jobs.RunInput{Addresses: strings.Repeat("http://10.0.0.1:9999/,", 20)})
	require.ErrorContains(t, err, "addresses: field.addresses_too_long")
	_, err = w.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{
		AppName: "abcd", Title: "t", AddressType: model.AddressManual, AddressList: "http://a/\xff"})
	require.ErrorContains(t, err, "address_list: field.address")
	require.ErrorContains(t, w.Register(t.Context(), model.Registration{Group: "EXECUTOR", Key: "app-one", Address: "http://a/\xff"}), "registryValue")
}

// TestTheFilterNamesItsJob, however many jobs there are, and no job of others.
func TestTheFilterNamesItsJob(t *testing.T) {
	w := newWorld(t)
	first := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Name = "zz first" })
	storetest.Run(t, w.store, first, func(r *model.Run) { r.PlannedMS = w.now.UnixMilli() })
	later := storetest.Run(t, w.store, first, func(r *model.Run) { r.PlannedMS = w.now.Add(3 * time.Second).UnixMilli() })
	page, err := w.ListRuns(t.Context(), admin(), model.RunFilter{JobID: first.ID})
	require.NoError(t, err)
	require.Equal(t, "zz first", page.JobName)
	require.Equal(t, w.group.ID, page.JobGroup)
	require.Len(t, page.Rows, 2)
	stranger := model.Actor{UserID: 4, Name: "olga", Groups: []int{storetest.Group(t, w.store, "app-two", "").ID}}
	page, err = w.ListRuns(t.Context(), stranger, model.RunFilter{JobID: first.ID})
	require.NoError(t, err)
	require.Empty(t, page.JobName)
	require.Empty(t, page.Rows)
	page, err = w.ListRuns(t.Context(), admin(), model.RunFilter{JobID: first.ID, DueByMS: w.now.UnixMilli()})
	require.NoError(t, err)
	require.Equal(t, 1, page.Planned)
	require.Len(t, page.Rows, 1)
	require.NotEqual(t, later.ID, page.Rows[0].ID, "what is planned for later is counted only")
	page, err = w.ListRuns(t.Context(), admin(), model.RunFilter{Text: "nothing like it", DueByMS: w.now.UnixMilli()})
	require.NoError(t, err)
	require.Zero(t, page.Planned, "none of them matches")
	for text, n := range map[string]int{"zz fi": 2, "#" + strconv.FormatInt(later.ID, 10): 1, "nothing like it": 0, "100%": 0} {
		page, err = w.ListRuns(t.Context(), admin(), model.RunFilter{Text: text})
		require.NoError(t, err)
		require.Len(t, page.Rows, n, text)
	}
}
