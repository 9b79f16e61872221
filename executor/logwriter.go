package executor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	stampLayout = "2006-01-02 15:04:05.000"
	maxLine     = 64 << 10 // bytes; a longer line is broken
)

// logPath gives the log file of a run: the day is that of the trigger in the
// local zone, because the center sends the trigger's time when it asks for the
// log (reference: protocol.md 2.3, 2.5).
func logPath(dir string, logID, triggerMS int64) string {
	day := time.UnixMilli(triggerMS).Local().Format(time.DateOnly)
	return filepath.Join(dir, day, strconv.FormatInt(logID, 10)+".log")
}

// logWriter writes the log of one run line by line, each with a time stamp. A
// file that cannot be written loses lines but never fails the run.
type logWriter struct {
	now   func() time.Time
	limit int64 // bytes

	mu      sync.Mutex
	file    *os.File // nil when closed or cut off
	size    int64
	partial []byte
	err     error // first failure
}

func newLogWriter(path string, limit int64, now func() time.Time) *logWriter {
	w := &logWriter{now: now, limit: limit}
	if w.err = os.MkdirAll(filepath.Dir(path), 0o750); w.err == nil {
		w.file, w.err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
	}
	return w
}

// Write takes output of any shape; the last line is held back until it is whole.
func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		head, tail, whole := bytes.Cut(rest, []byte{'\n'})
		for len(w.partial)+len(head) > maxLine {
			n := maxLine - len(w.partial)
			w.partial = append(w.partial, head[:n]...)
			head = head[n:]
			w.flush()
		}
		w.partial = append(w.partial, head...)
		if whole {
			w.flush()
		}
		rest = tail
	}
	return len(p), nil
}

// line writes one message, after what is held back.
func (w *logWriter) line(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.partial) > 0 {
		w.flush()
	}
	w.partial = append(w.partial, text...)
	w.flush()
}

// flush writes the held-back line in one write.
func (w *logWriter) flush() {
	line := make([]byte, 0, len(stampLayout)+len(w.partial)+2)
	line = w.now().Local().AppendFormat(line, stampLayout)
	line = append(line, ' ')
	line = append(line, bytes.TrimSuffix(w.partial, []byte{'\r'})...)
	line = append(line, '\n')
	w.partial = w.partial[:0]
	if w.file == nil {
		return
	}
	if w.size > w.limit {
		w.write([]byte("(the log is full: what follows is not kept)\n"))
		w.shut()
		return
	}
	w.write(line)
}

func (w *logWriter) write(p []byte) {
	n, err := w.file.Write(p)
	w.size += int64(n)
	if w.err == nil {
		w.err = err
	}
}

func (w *logWriter) shut() {
	if w.file == nil {
		return
	}
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	w.file = nil
}

// close writes what is held back and gives the first failure. Later lines are
// dropped.
func (w *logWriter) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.partial) > 0 {
		w.flush()
	}
	w.shut()
	return w.err
}
