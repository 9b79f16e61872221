package console

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2/memstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func TestLogStream(t *testing.T) {
	s := newSite(t).login("olga")
	calls := 0
	s.fake.readLog = func(from int) (model.LogChunk, error) {
		calls++
		switch calls {
		case 1:
			assert.Equal(t, 1, from)
			return model.LogChunk{From: 1, To: 2, Content: "one\n</script><b>two\n"}, nil
		case 2, 3:
			return model.LogChunk{}, model.Errf(model.CodeUnavailable, "error.executor_silent")
		case 60:
			assert.Equal(t, 3, from)
			return model.LogChunk{From: 3, To: 3, Content: "three\n", End: true}, nil
		}
		return model.LogChunk{From: from, To: from - 1}, nil
	}
	res := s.get("/runs/88214871/log/stream", "Accept", "text/event-stream")
	assert.Equal(t, "text/event-stream; charset=utf-8", res.Header.Get("Content-Type"))
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	body := text(t, res)
	assert.Contains(t, body, "id: 2\nevent: lines\ndata: {\"from\":1,\"to\":2,\"content\":\"one\\n\\u003c/script\\u003e\\u003cb\\u003etwo\\n\"}\n\n")
	assert.Contains(t, body, "event: problem\ndata: \"The executor does not answer.\"")
	assert.Contains(t, body, ": still here", "a heartbeat in the silence")
	assert.True(t, strings.HasSuffix(body, "event: end\ndata: \"\"\n\n"))
	assert.Equal(t, 60, calls)
}

func TestLogStreamResumesAndIsBounded(t *testing.T) {
	s := newSite(t).login("olga")
	first, began := 0, s.clock.t
	s.fake.readLog = func(from int) (model.LogChunk, error) {
		if first == 0 {
			first = from
		}
		return model.LogChunk{From: from, To: from - 1}, nil
	}
	body := text(t, s.get("/runs/88214871/log/stream", "Last-Event-ID", "41"))
	assert.Equal(t, 42, first)
	assert.NotContains(t, body, "event: end", "the browser is to come again")
	assert.InDelta(t, logLifetime.Seconds(), s.clock.t.Sub(began).Seconds(), 2)
}

func TestLogStreamEndsWithTheBrowser(t *testing.T) {
	s := newSite(t).login("olga")
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	s.fake.readLog = func(from int) (model.LogChunk, error) {
		if calls++; calls == 3 {
			cancel()
		}
		return model.LogChunk{From: from, To: from, Content: "x\n"}, nil
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/runs/88214871/log/stream", nil)
	r.AddCookie(&http.Cookie{Name: "carillon_session", Value: s.cookie["carillon_session"]})
	s.c.ServeHTTP(httptest.NewRecorder(), r)
	assert.Equal(t, 3, calls)
}

// TestLogStreamEndsWithTheRight: a log is followed by who is logged in and may see it.
func TestLogStreamEndsWithTheRight(t *testing.T) {
	for name, end := range map[string]func(s *site, store *memstore.MemStore){
		"logout": func(s *site, store *memstore.MemStore) {
			all, err := store.All()
			require.NoError(t, err)
			for token := range all {
				require.NoError(t, store.Delete(token))
			}
		},
		"another password": func(s *site, _ *memstore.MemStore) { s.fake.users[1].SessionGeneration++ },
		"account gone":     func(s *site, _ *memstore.MemStore) { s.fake.users = s.fake.users[:1] },
		"permission":       func(s *site, _ *memstore.MemStore) { s.fake.users[1].Permission = "3" },
	} {
		t.Run(name, func(t *testing.T) {
			store := memstore.NewWithCleanupInterval(0)
			s := newSite(t, func(o *Options) { o.Sessions = store }).login("olga")
			began, calls := s.clock.t, 0
			s.fake.mayRead = true
			s.fake.readLog = func(from int) (model.LogChunk, error) {
				if calls++; calls == 3 {
					end(s, store)
				}
				return model.LogChunk{From: from, To: from, Content: "x\n"}, nil
			}
			body := text(t, s.get("/runs/88214871/log/stream"))
			assert.True(t, strings.HasSuffix(body, "event: end\ndata: \"\"\n\n"), body)
			assert.Less(t, s.clock.t.Sub(began), 10*time.Second)
		})
	}
}

func TestLogStreamIsGuarded(t *testing.T) {
	s := newSite(t).login("olga")
	assert.Equal(t, http.StatusNotFound, s.get("/runs/1031001/log/stream").StatusCode)
	s.fake.readLog = func(int) (model.LogChunk, error) { return model.LogChunk{}, assert.AnError }
	body := text(t, s.get("/runs/88214871/log/stream"))
	assert.NotContains(t, body, assert.AnError.Error())
}

func TestPageLoadsAnewWhenTheLogBegins(t *testing.T) {
	s := newSite(t).login("olga")
	d := s.doc(s.get("/runs/88214910"))
	path, _ := d.Find("#run-head").Attr("hx-get")
	assert.Equal(t, "/runs/88214910?wait=log", path)
	assert.Equal(t, http.StatusOK, s.get(path, "HX-Request", "true").StatusCode)
	for i := range s.fake.runs {
		if r := &s.fake.runs[i]; r.ID == 88214910 {
			r.Phase, r.TriggerCode, r.Address = model.PhaseAccepted, 200, "http://10.0.4.16:9999/"
		}
	}
	assert.Equal(t, "true", s.get(path, "HX-Request", "true").Header.Get("HX-Refresh"))
}

func TestLogDownload(t *testing.T) {
	s := newSite(t).login("olga")
	s.fake.readLog = func(from int) (model.LogChunk, error) {
		return model.LogChunk{From: from, To: from, Content: "line\n", End: from == 3}, nil
	}
	res := s.get("/runs/88214871/log?download=1")
	assert.Equal(t, `attachment; filename="run-88214871.log"`, res.Header.Get("Content-Disposition"))
	assert.Equal(t, "line\nline\nline\n", text(t, res))
}

func TestPlainText(t *testing.T) {
	java := model.Run{}
	assert.Equal(t, "a <nil> b", plainText(model.Run{Phase: model.PhaseFinished}, "a <nil> b"), "our own rows are text")
	assert.Equal(t, "one\ntwo & three", plainText(java, "one<br><br/>two &amp; <b onclick=x>three</b><script>x</script>"))
}

func TestPeriods(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 3, 0, 0, time.FixedZone("x", 8*3600))
	from, to := period(bindless("yesterday", "", ""), now)
	assert.Equal(t, "2026-11-19 00:00 2026-11-20 00:00", from.Format("2006-01-02 15:04")+" "+to.Format("2006-01-02 15:04"))
	from, to = period(bindless("custom", "2026-11-01T10:00", "nonsense"), now)
	assert.Equal(t, "2026-11-01T10:00:00+08:00", from.Format(time.RFC3339))
	assert.True(t, to.IsZero())
}

func bindless(preset, from, to string) views.RunFilter {
	return views.RunFilter{Preset: preset, From: from, To: to}
}
