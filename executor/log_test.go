package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/protocol"
)

func TestLogIsReadWhileItGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.log")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	var r logReader
	steps := []struct {
		write    string
		from     int
		finished bool
		content  string
		to       int
		end      bool
	}{
		{"", 1, false, "", 0, false},
		{"one\ntw", 1, false, "one\n", 1, false},
		{"", 2, false, "", 1, false}, // half a line is not a line
		{"o\nthree\n", 2, false, "two\nthree\n", 3, false},
		{"", 4, false, "", 3, false},
		{"", 1, false, "one\ntwo\nthree\n", 3, false}, // again from the start
		{"", 0, false, "one\ntwo\nthree\n", 3, false},
		{"four", 3, false, "three\n", 3, false},
		{"", 4, true, "four\n", 4, true},
		{"", 5, true, "", 4, true},
		{"", 99, true, "", 98, true},
	}
	for i, s := range steps {
		_, err := f.WriteString(s.write)
		require.NoError(t, err)
		res, err := r.read(path, s.from, s.finished)
		require.NoError(t, err)
		require.Equal(t, s.from, res.FromLineNum)
		require.Equal(t, s.content, res.LogContent, "step %d", i)
		require.Equal(t, s.to, res.ToLineNum, "step %d", i)
		require.Equal(t, s.end, res.IsEnd, "step %d", i)
	}

	res, err := r.read(filepath.Join(t.TempDir(), "none"), 1, true)
	require.NoError(t, err)
	require.True(t, res.IsEnd)
	require.Zero(t, res.ToLineNum)
	require.Contains(t, res.LogContent, "no log")
	res, err = r.read(filepath.Join(t.TempDir(), "none"), 1, false)
	require.NoError(t, err)
	require.False(t, res.IsEnd, "it waits for its turn")
}

func TestLogPages(t *testing.T) {
	tests := map[string]string{
		"many lines": strings.Repeat("x\n", 2500),
		"long lines": strings.Repeat(strings.Repeat("y", 60_000)+"\n", 20),
		"exact page": strings.Repeat("z\n", pageLines),
		"empty":      "",
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "1.log")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			var r logReader
			require.Equal(t, content, pages(t, &r, path))
		})
	}
	path := filepath.Join(t.TempDir(), "1.log")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 3*pageBytes)+"\nnext\n"), 0o600))
	var r logReader
	require.Equal(t, strings.Repeat("x", pageBytes)+"\nnext\n", pages(t, &r, path), "a monstrous line is cut")
}

// pages reads the file of a finished run to its end.
func pages(t *testing.T, r *logReader, path string) string {
	t.Helper()
	var all strings.Builder
	for from := 1; ; {
		res, err := r.read(path, from, true)
		require.NoError(t, err)
		require.LessOrEqual(t, len(res.LogContent), pageBytes+1)
		require.LessOrEqual(t, res.ToLineNum-from+1, pageLines)
		all.WriteString(res.LogContent)
		if res.IsEnd || res.ToLineNum < from {
			require.True(t, res.IsEnd)
			return all.String()
		}
		from = res.ToLineNum + 1
	}
}

// FuzzLogReader cuts a text at two places: whatever is written when, a reader
// that follows sees each line once and whole.
func FuzzLogReader(f *testing.F) {
	f.Add("one\ntwo\nthree", 5, 9)
	f.Add("\n\n\r\n", 1, 2)
	f.Fuzz(func(t *testing.T, text string, a, b int) {
		cut := func(n int) int { return max(0, min(n, len(text))) }
		a, b = cut(a), cut(b)
		if a > b {
			a, b = b, a
		}
		path := filepath.Join(t.TempDir(), "1.log")
		var r logReader
		var got strings.Builder
		from := 1
		for i, end := range []int{a, b, len(text)} {
			require.NoError(t, os.WriteFile(path, []byte(text[:end]), 0o600))
			for {
				res, err := r.read(path, from, i == 2)
				require.NoError(t, err)
				got.WriteString(res.LogContent)
				if res.ToLineNum < from {
					break
				}
				from = res.ToLineNum + 1
			}
		}
		want := text
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		require.Equal(t, want, got.String())
	})
}

func TestLogWriter(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.Local) }
	path := filepath.Join(t.TempDir(), "day", "1.log")
	w := newLogWriter(path, 1<<20, now)
	w.line("first")
	for _, part := range []string{"ab", "c\r\nd", "ef\n", "\n", "tail"} {
		n, err := w.Write([]byte(part))
		require.NoError(t, err)
		require.Len(t, part, n)
	}
	w.line("after the tail")
	_, _ = w.Write([]byte(strings.Repeat("x", maxLine+1)))
	require.NoError(t, w.close())
	w.line("too late")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	const stamp = "2026-01-02 03:04:05.006 "
	var want strings.Builder
	for _, l := range []string{"first", "abc", "def", "", "tail", "after the tail", strings.Repeat("x", maxLine), "x"} {
		want.WriteString(stamp + l + "\n")
	}
	require.Equal(t, want.String(), string(raw))

	path = filepath.Join(t.TempDir(), "2.log")
	w = newLogWriter(path, 100, now)
	for range 100 {
		w.line("0123456789")
	}
	require.NoError(t, w.close())
	raw, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Less(t, len(raw), 300)
	require.Contains(t, string(raw), "the log is full")

	w = newLogWriter(filepath.Join(path, "impossible", "3.log"), 100, now)
	w.line("lost")
	require.Error(t, w.close())
}

func TestLogOfARunThatGoesOn(t *testing.T) {
	c, g := newCenter(t), newGate()
	e := start(t, options(t, c), func(e *Executor) {
		e.Handle("job", func(ctx context.Context, r *Run) error {
			r.Logger().Info("structured", "n", 1)
			fmt.Fprintf(r, "half")
			return g.handle(ctx, r)
		})
	})
	run(t, e, trigger(7, 1, "job"))
	run(t, e, trigger(7, 2, "job"))
	<-g.begun
	text, end := readLog(t, e, 1)
	require.False(t, end)
	require.Contains(t, text, `level=INFO msg=structured n=1`)
	require.NotContains(t, text, "half")
	text, end = readLog(t, e, 2)
	require.Empty(t, text)
	require.False(t, end, "it waits")
	close(g.open)
	c.results(t, 2)
	text, end = readLog(t, e, 1)
	require.True(t, end)
	require.Contains(t, text, "half\n")
	require.Contains(t, text, "code 200 let go")
}

// TestWhatAnExecutorKnows: a run that waits, one that goes on, one that has ended, and one
// that never came although its job is busy.
func TestWhatAnExecutorKnows(t *testing.T) {
	c, g := newCenter(t), newGate()
	e := start(t, options(t, c), func(e *Executor) { e.Handle("job", g.handle) })
	known := func(id int64) bool {
		t.Helper()
		r := call(t, e, "log", protocol.LogRequest{LogID: id, LogDateTim: testTime, FromLineNum: 1})
		require.Equal(t, 200, r.Code, r.Msg)
		var res protocol.LogResult
		require.NoError(t, json.Unmarshal(r.Value, &res))
		return *res.Known
	}
	run(t, e, trigger(7, 1, "job"))
	run(t, e, trigger(7, 2, "job"))
	<-g.begun
	require.True(t, known(1))
	require.True(t, known(2), "it waits")
	require.False(t, known(3))
	close(g.open)
	c.results(t, 2)
	require.True(t, known(1))
	require.True(t, known(2))
}

func TestClearLogs(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"2026-01-01", "2026-01-30", "2026-01-31", "2026-03-02", "notes"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d, "x"), 0o750))
	}
	n, err := clearLogs(dir, time.Date(2026, 3, 2, 0, 0, 0, 0, time.Local), 30)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	for d, there := range map[string]bool{"2026-01-01": false, "2026-01-30": false, "2026-01-31": true, "notes": true} {
		_, err := os.Stat(filepath.Join(dir, d))
		require.Equal(t, there, err == nil, d)
	}
}
