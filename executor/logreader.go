package executor

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/carillon-scheduler/carillon/protocol"
)

// Limits of one answer to /log.
const (
	pageLines = 1000
	// The content goes out under two keys and a byte may take six when escaped:
	// an answer stays below the 5 MiB that centers read.
	pageBytes = 256 << 10
)

// logReader reads log files page by page and remembers where the last page of a
// file ended, so that following a growing file does not read it from the start
// each time.
type logReader struct {
	mu    sync.Mutex
	marks map[string]mark
}

// mark says at which byte a line begins.
type mark struct {
	line   int
	offset int64
}

const maxMarks = 256

// read gives the lines from a line on, at most a page. finished must have been
// found out before the call: it allows an unterminated last line and isEnd.
func (r *logReader) read(path string, from int, finished bool) (protocol.LogResult, error) {
	res := protocol.LogResult{FromLineNum: from}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if res.IsEnd = finished; finished {
			res.LogContent = "There is no log of this run here: it was never started on this executor, or its log was cleared.\n"
		}
		return res, nil
	}
	if err != nil {
		return res, fmt.Errorf("open log: %w", err)
	}
	defer f.Close()

	first := max(from, 1)
	at := r.mark(path, first)
	if st, err := f.Stat(); err != nil || at.offset > st.Size() {
		at = mark{line: 1}
	}
	if _, err := f.Seek(at.offset, io.SeekStart); err != nil {
		return res, fmt.Errorf("read log: %w", err)
	}
	in := bufio.NewReaderSize(f, 64<<10)
	var out strings.Builder
	for at.line-first < pageLines && out.Len() < pageBytes {
		line, n, err := readLine(in, pageBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return res, fmt.Errorf("read log: %w", err)
		}
		ended := err != nil
		if ended && (n == 0 || !finished) {
			res.IsEnd = finished
			break
		}
		if at.line >= first {
			if out.Len() > 0 && out.Len()+len(line) > pageBytes {
				break
			}
			out.Write(line)
			out.WriteByte('\n')
		}
		at.line++
		at.offset += n
	}
	r.setMark(path, at)
	res.LogContent = out.String()
	// Nothing new must give a number below the one asked for (protocol.md 2.5).
	res.ToLineNum = max(at.line, first) - 1
	return res, nil
}

// readLine reads up to and including the next newline and gives the line
// without it, cut to limit bytes, and the bytes consumed. io.EOF says that the
// newline was missing.
func readLine(in *bufio.Reader, limit int) (line []byte, n int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		line = append(line, part[:min(len(part), limit-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte{'\n'}), n, err
		}
	}
}

// mark gives the remembered place if it is of use for the line, else the start.
func (r *logReader) mark(path string, line int) mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.marks[path]; ok && m.line <= line {
		return m
	}
	return mark{line: 1}
}

func (r *logReader) setMark(path string, m mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.marks == nil {
		r.marks = map[string]mark{}
	}
	if _, ok := r.marks[path]; !ok && len(r.marks) >= maxMarks {
		for other := range r.marks { // any one: a lost mark costs time only
			delete(r.marks, other)
			break
		}
	}
	r.marks[path] = m
}
