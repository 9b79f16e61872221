package console

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func (f *fake) Timeline(_ context.Context, a model.Actor, in jobs.TimelineInput) (jobs.Timeline, error) {
	f.timeline = in
	tl := jobs.Timeline{From: in.From, To: in.To, Groups: f.seen(a), Runs: 14, Cut: in.GroupID == 2}
	at := in.From.UnixMilli()
	tl.Lanes = []jobs.Lane{{GroupID: 1, JobID: 1001, Title: "<b>bold</b>", Tracks: 2, Runs: 13, Failed: 1, Bars: []jobs.Bar{
		{FromMS: at, ToMS: at + 60_000, Class: model.ClassSucceeded, Runs: 12, RunID: 7},
		{FromMS: at + 30_000, ToMS: at + 61_500, Track: 1, Class: model.ClassFailed, Runs: 1, RunID: 8},
	}}}
	return tl, nil
}

func (f *fake) Load(context.Context, model.Actor) (jobs.Load, error) {
	l := jobs.Load{From: f.now.Truncate(time.Hour), Minutes: make([]float64, 1500), Total: 312, Jobs: 3, Left: 2}
	l.Minutes[5] = 312
	l.Peaks = []jobs.Peak{{At: l.From.Add(5 * time.Minute), Fires: 312, Jobs: f.jobs[:2], Of: 310}}
	return l, nil
}

func page(s *site, path string) *goquery.Document { return s.doc(s.get(path)) }

func TestTimelinePage(t *testing.T) {
	s := newSite(t).login("admin")
	d := page(s, "/timeline")
	require.Equal(t, 24*time.Hour, s.fake.timeline.To.Sub(s.fake.timeline.From))
	require.Equal(t, jobs.ByJob, s.fake.timeline.By)
	require.False(t, s.fake.timeline.To.Before(s.fake.now), "up to now, and to the end of its hour")
	require.Zero(t, s.fake.timeline.To.Minute())
	require.Equal(t, "<b>bold</b>", d.Find("[data-testid=lane] a").First().Text(), "as text")
	bars := d.Find("[data-testid=lane] svg a")
	require.Equal(t, 2, bars.Length())
	require.Contains(t, bars.Eq(0).AttrOr("href", ""), "/runs?executor=1", "several runs: their list")
	require.Equal(t, "/runs/8", bars.Eq(1).AttrOr("href", ""))
	require.Equal(t, "b-bad", bars.Eq(1).Find("rect").AttrOr("class", ""))
	require.Contains(t, d.Find(".hours a").First().AttrOr("href", ""), "span=1h", "an hour leads to its enlargement")
	require.Zero(t, testid(d, "later").Length(), "nothing is later than now")

	earlier := testid(d, "earlier").AttrOr("href", "")
	d = page(s, earlier)
	require.Equal(t, 1, testid(d, "later").Length())
	require.NotContains(t, testid(d, "later").AttrOr("href", ""), "to=", "now goes on with the clock")

	d = page(s, "/timeline?span=1h&by=address&executor=2&to=2026-01-01T10:05")
	require.Equal(t, jobs.TimelineInput{From: s.fake.timeline.To.Add(-time.Hour), To: s.fake.timeline.To, By: jobs.ByAddress, GroupID: 2}, s.fake.timeline)
	require.Equal(t, "10:10", s.fake.timeline.To.Format("15:04"), "full columns")
	require.Equal(t, 1, testid(d, "timeline-cut").Length(), "says that runs are left out")

	for _, bad := range []string{"span=x&by=y", "to=9999-12-31T23:59", "to=yesterday", "to=0001-01-01T00:00", "executor=-1&job=99999999999999999999", "to=%ff%fe"} {
		require.Equal(t, http.StatusOK, s.get("/timeline?"+bad).StatusCode, bad)
		require.WithinDuration(t, s.fake.now, s.fake.timeline.To, time.Hour, bad)
	}
}

func TestLoadPage(t *testing.T) {
	s := newSite(t).login("admin")
	d := page(s, "/timeline/load")
	require.Contains(t, d.Find("path").AttrOr("d", ""), "H5V")
	require.Equal(t, 25, d.Find("svg.load rect").Length())
	require.Contains(t, d.Find("svg.load title").First().Text(), "312")
	require.Contains(t, testid(d, "peaks").Text(), "312 fires")
	require.Contains(t, testid(d, "peaks").Text(), "and 308 more jobs")
	require.Contains(t, d.Find(".notice").Text(), "2 jobs are not counted")
}
