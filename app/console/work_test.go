package console

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// slowly is a clock on which each look takes a while, so that work is done in pieces.
type slowly struct{ now time.Time }

func (s *slowly) Now() time.Time {
	s.now = s.now.Add(100 * time.Millisecond)
	return s.now
}
func (*slowly) After(time.Duration) <-chan time.Time { return nil }

func (w *town) batch(who string, form url.Values) (*http.Response, *goquery.Document) {
	res := w.as(who, http.MethodPost, "/jobs/batch", form.Encode())
	return res, w.doc(res)
}

func hidden(d *goquery.Document) string { return d.Find("form input[name=work]").AttrOr("value", "") }

// TestChangeMany: jobs are moved, tagged, given an owner and a mail, each with its result
// and under the rights on both executors; one button takes it back from exactly those that
// changed, and leaves alone what others have changed since.
func TestChangeMany(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	second := storetest.Group(t, w.st, "second-app", "http://10.0.0.3:9999/")
	root := "root"
	a := storetest.Job(t, w.st, w.own.ID, func(j *model.Job) { j.Name, j.Author, j.Tags = "A", "mei", "old" })
	b := storetest.Job(t, w.st, w.own.ID, func(j *model.Job) { j.Name, j.Author = "B", "bo" })
	c := storetest.Job(t, w.st, second.ID, func(j *model.Job) { j.Name, j.Author, j.Tags = "C", "ops", "night" })
	f := storetest.Job(t, w.st, w.foreign.ID, func(j *model.Job) { j.Name = foreignName })
	ids := []string{strconv.Itoa(a.ID), strconv.Itoa(b.ID), strconv.Itoa(c.ID)}
	read := func(id int) model.Job {
		j, err := w.st.Job(ctx, id)
		require.NoError(t, err)
		return j
	}

	res, d := w.batch(root, url.Values{"id": ids, "do": {"change"}})
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, idText([]int64{int64(a.ID), int64(b.ID), int64(c.ID)}), d.Find("input[name=ids]").First().AttrOr("value", ""))
	picked := d.Find("input[name=ids]").First().AttrOr("value", "")

	for do, bad := range map[string][2]string{
		"move": {"0", "range"}, "tag": {" , ", "fill this in"}, "author": {"", "fill this in"}, "alarm": {"nobody", "nobody"}, "untag": {strings.Repeat("x", 40), "At most 30"},
	} {
		res, d = w.batch(root, url.Values{"ids": {picked}, "do": {do}, "value_" + do: {bad[0]}, "value_author": {bad[0]}})
		require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, do)
		require.Equal(t, 1, d.Find(".invalid-feedback").Length(), do)
		if do != "move" {
			require.Contains(t, testid(d, "error-value_"+do).Text(), bad[1], do)
		}
	}
	require.Equal(t, "mei", read(a.ID).Author)

	// Owner, and back.
	_, d = w.batch(root, url.Values{"ids": {picked}, "do": {"author"}, "value_author": {" ops "}})
	require.Contains(t, d.Find("#dialog-title").Text(), "2 done, 1 unchanged, 0 failed")
	require.Equal(t, "ops", read(b.ID).Author)
	undo := hidden(d)
	require.NoError(t, w.st.UpdateJob(ctx, func() *model.Job { j := read(b.ID); j.Author = "chen"; return &j }(), false, false, time.Now()))
	_, d = w.batch(root, url.Values{"work": {undo}, "do": {"author"}})
	require.Contains(t, d.Find("#dialog-title").Text(), "1 done, 0 unchanged, 1 failed")
	require.Contains(t, d.Text(), "changed again since")
	require.Equal(t, "mei", read(a.ID).Author)
	require.Equal(t, "chen", read(b.ID).Author)

	// Tags: only what was new is taken back.
	_, d = w.batch(root, url.Values{"ids": {picked}, "do": {"tag"}, "value_tag": {"Night, pay"}})
	require.Contains(t, d.Find("#dialog-title").Text(), "3 done")
	require.Equal(t, "night,old,pay", read(a.ID).Tags)
	_, d = w.batch(root, url.Values{"work": {hidden(d)}})
	require.Contains(t, d.Find("#dialog-title").Text(), "3 done")
	require.Equal(t, [3]string{"old", "", "night"}, [3]string{read(a.ID).Tags, read(b.ID).Tags, read(c.ID).Tags})
	_, d = w.batch(root, url.Values{"ids": {picked}, "do": {"untag"}, "value_untag": {"old"}})
	require.Contains(t, d.Find("#dialog-title").Text(), "1 done, 2 unchanged")
	w.batch(root, url.Values{"work": {hidden(d)}})
	require.Equal(t, "old", read(a.ID).Tags)
	_, d = w.batch(root, url.Values{"ids": {picked}, "do": {"alarm"}, "value_alarm": {"a@example.org,b@example.org"}})
	require.Equal(t, "a@example.org,b@example.org", read(c.ID).AlarmEmail)
	w.batch(root, url.Values{"work": {hidden(d)}})
	require.Empty(t, read(c.ID).AlarmEmail)

	// Moved, and back to where each was.
	_, d = w.batch(root, url.Values{"ids": {picked}, "do": {"move"}, "value_move": {strconv.Itoa(second.ID)}})
	require.Contains(t, d.Find("#dialog-title").Text(), "2 done, 1 unchanged")
	require.Equal(t, second.ID, read(a.ID).GroupID)
	_, d = w.batch(root, url.Values{"work": {hidden(d)}})
	require.Contains(t, d.Find("#dialog-title").Text(), "2 done")
	require.Equal(t, w.own.ID, read(a.ID).GroupID)
	require.Equal(t, second.ID, read(c.ID).GroupID)

	// Rights: on the executor that a job leaves and on the one where it goes.
	res, _ = w.batch("editor", url.Values{"id": ids[:1], "do": {"move"}, "value_move": {strconv.Itoa(w.foreign.ID)}})
	require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	require.Equal(t, w.own.ID, read(a.ID).GroupID)
	for _, form := range []url.Values{
		{"id": {strconv.Itoa(f.ID)}, "do": {"move"}, "value_move": {strconv.Itoa(w.own.ID)}},
		{"work": {fmt.Sprintf(`{"do":"author","parts":[{"ids":"%d","value":"evil"}]}`, f.ID)}},
	} {
		_, d = w.batch("editor", form)
		require.Contains(t, d.Find("#dialog-title").Text(), "0 done, 0 unchanged, 1 failed")
		require.NotContains(t, d.Text(), foreignName)
	}
	require.Equal(t, "ops", read(f.ID).Author)
	require.Equal(t, w.foreign.ID, read(f.ID).GroupID)
	_, d = w.batch("operator", url.Values{"id": ids[:1], "do": {"author"}, "value_author": {"me"}})
	require.Contains(t, d.Find("#dialog-title").Text(), "1 failed")
	_, d = w.batch("operator", url.Values{"work": {fmt.Sprintf(`{"do":"move","parts":[{"ids":"%d","value":"%d"}]}`, a.ID, w.own.ID)}})
	require.NotContains(t, d.Find("#dialog-title").Text(), "1 done")
	// A script is a right of its own: who lacks it there cannot move one there.
	script := storetest.Job(t, w.st, w.own.ID, func(j *model.Job) { j.GlueType, j.GlueSource, j.Handler = model.GlueShell, "echo", "" })
	u, err := w.st.UserByName(ctx, "editor")
	require.NoError(t, err)
	u.Rights = fmt.Sprintf("%d=edit+script %d=edit", w.own.ID, second.ID)
	require.NoError(t, w.st.UpdateUser(ctx, &u))
	_, d = w.batch("editor", url.Values{"id": {strconv.Itoa(script.ID), ids[0]}, "do": {"move"}, "value_move": {strconv.Itoa(second.ID)}})
	require.Contains(t, d.Find("#dialog-title").Text(), "1 done, 0 unchanged, 1 failed")
	require.Equal(t, w.own.ID, read(script.ID).GroupID)

	lines, err := w.st.Audit(ctx, model.AuditFilter{Kind: model.AuditJob, ObjectID: int64(c.ID), Limit: 20})
	require.NoError(t, err)
	require.Equal(t, "alarm_email", lines[0].Changes[0].Field, "each change is in the history of its job")
}

// TestWorkInPieces: long work says how far it is, goes on with what it was told, can be
// ended, and then says what was done and takes exactly that back.
func TestWorkInPieces(t *testing.T) {
	w := newTown(t)
	w.c.clock = &slowly{now: w.fake.now}
	for i := range 400 {
		storetest.Job(t, w.st, w.own.ID, func(j *model.Job) { j.Name = fmt.Sprintf("Job %03d", i) })
	}
	_, d := w.batch("editor", url.Values{"all": {"1"}, "filter": {"q=Job"}, "do": {"author"}, "value_author": {"new"}})
	require.Equal(t, 1, testid(d, "batch-progress").Length())
	require.Equal(t, "400", testid(d, "batch-progress").AttrOr("max", ""))
	first := testid(d, "batch-progress").AttrOr("value", "")
	require.NotEqual(t, "0", first)
	require.Equal(t, 1, testid(d, "batch-cancel").Length())
	_, d = w.batch("editor", url.Values{"work": {hidden(d)}})
	require.NotEqual(t, first, testid(d, "batch-progress").AttrOr("value", ""))
	done, err := strconv.Atoi(testid(d, "batch-progress").AttrOr("value", ""))
	require.NoError(t, err)
	_, d = w.batch("editor", url.Values{"work": {hidden(d)}, "stop": {"1"}})
	require.Contains(t, d.Find("#dialog-title").Text(), fmt.Sprintf("%d done, 0 unchanged, 0 failed", done))
	require.Contains(t, d.Text(), fmt.Sprintf("Stopped: %d were not touched", 400-done))
	count := func(author string) int {
		_, n, err := w.st.Jobs(t.Context(), model.JobFilter{Author: author, Limit: 1})
		require.NoError(t, err)
		return n
	}
	require.Equal(t, done, count("new"))
	for range 20 {
		if _, d = w.batch("editor", url.Values{"work": {hidden(d)}}); testid(d, "batch-progress").Length() == 0 {
			break
		}
	}
	require.Contains(t, d.Find("#dialog-title").Text(), fmt.Sprintf("%d done", done))
	require.Zero(t, count("new"))

	for _, evil := range []string{"x", `{"do":"explode","parts":[{"ids":"1"}]}`, `{"do":"stop","parts":[{"ids":"1-99999999"}]}`, `{"do":"stop","parts":[{"ids":"9223372036854775807"}]}`,
		`{"do":"stop","parts":[{"ids":"-1"}]}`, `{"do":"author","parts":[{"ids":"1"}]}`} {
		res, _ := w.batch("editor", url.Values{"work": {evil}})
		require.Contains(t, []int{http.StatusUnprocessableEntity, http.StatusOK}, res.StatusCode, evil)
	}
	require.Zero(t, count("evil"))
}

func TestIDText(t *testing.T) {
	for text, ids := range map[string][]int64{"": nil, "7": {7}, "1-3,5": {1, 2, 3, 5}, "2,4": {2, 4}, "9223372036854775807": {math.MaxInt64}} {
		require.Equal(t, text, idText(ids))
		got, err := readIDs(text)
		require.NoError(t, err)
		require.Equal(t, ids, got)
	}
	require.Equal(t, "1-3", idText([]int64{3, 1, 2, 2}))
	for _, bad := range []string{"x", "0", "3-1", "1-", "-", "1,,2", "1-10001", "1-9000,9001-10001", "1-9223372036854775807"} {
		_, err := readIDs(bad)
		require.Error(t, err, bad)
	}
	got, err := readIDs("1-10000")
	require.NoError(t, err)
	require.Len(t, got, 10_000)
}
