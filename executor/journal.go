package executor

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/carillon-scheduler/carillon/protocol"
)

// result is a callback as it is kept until a center has taken it.
type result struct {
	LogID   int64          `json:"logId"`
	LogTime int64          `json:"logTime"` // epoch ms of the trigger
	Code    int            `json:"code"`
	Said    *protocol.Said `json:"said,omitempty"`
	Msg     string         `json:"msg"`
	At      int64          `json:"at"` // epoch ms of the end of the run
}

// entry is one line of the journal and, merged, the state of one run. Exactly
// one of the fields besides At is set on a line.
type entry struct {
	Accept *protocol.Trigger `json:"accept,omitempty"`
	At     int64             `json:"at,omitempty"`    // epoch ms of the acceptance
	Start  int64             `json:"start,omitempty"` // log id
	Done   *result           `json:"done,omitempty"`
	Sent   []int64           `json:"sent,omitempty"` // log ids

	seq int64 // order of arrival; not written
}

// journal is an append-only file of JSON lines that says which runs were
// accepted, begun, ended and reported. Each line is one write, so the death of
// the process loses nothing; a power cut may lose the last seconds, which the
// center then reports as lost runs. The file is rewritten when most of it is
// history.
type journal struct {
	path string

	mu   sync.Mutex
	file *os.File // nil when closed
	size int64
	torn bool  // the last write failed and may have left half a line
	next int64 // size at which the file is rewritten
	live map[int64]*entry
	seq  int64
}

const compactAfter = 4 << 20 // bytes of history worth a rewrite

var errClosed = errors.New("journal is closed")

// openJournal reads the file, if there is one, and rewrites it without history.
// Broken lines, such as a half one at the end, are skipped with a warning.
func openJournal(path string, log *slog.Logger) (*journal, error) {
	j := &journal{path: path, live: map[int64]*entry{}}
	f, err := os.Open(path)
	switch {
	case err == nil:
		err = j.replay(f, log)
		_ = f.Close() // only read from
		if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := j.compact(); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *journal) replay(r io.Reader, log *slog.Logger) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e entry
			if bad := json.Unmarshal(line, &e); bad != nil {
				log.Warn("journal has a broken line", "error", bad, "bytes", len(line))
			} else {
				j.apply(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// apply merges a line into the state.
func (j *journal) apply(e entry) {
	j.seq++
	switch {
	case e.Accept != nil:
		e.seq = j.seq
		j.live[e.Accept.LogID] = &e
	case e.Start != 0:
		if old := j.live[e.Start]; old != nil {
			old.Start = e.Start
		}
	case e.Done != nil:
		// The trigger is not needed any more: it may hold a whole script.
		j.live[e.Done.LogID] = &entry{Done: e.Done, seq: j.seq}
	}
	for _, id := range e.Sent {
		delete(j.live, id)
	}
}

// add writes a line and merges it. After an error the state is still merged,
// except for an acceptance, which then must be refused.
func (j *journal) add(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return errClosed
	}
	if j.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := j.file.Write(append(line, '\n'))
	j.size += int64(n)
	j.torn = err != nil
	if err != nil && e.Accept != nil {
		return err
	}
	j.apply(e)
	if err == nil && j.size > j.next {
		err = j.compact()
	}
	return err
}

// compact writes the live state to a new file and puts it in place of the old.
func (j *journal) compact() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range j.ordered() {
		lines := []entry{{Accept: e.Accept, At: e.At, Done: e.Done}}
		if e.Start != 0 {
			lines = append(lines, entry{Start: e.Start})
		}
		for _, l := range lines {
			if err := enc.Encode(l); err != nil {
				return fmt.Errorf("write journal: %w", err)
			}
		}
	}
	if err := writeAtomic(j.path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	if j.file != nil {
		_ = j.file.Close() // its content lives on in the new file
	}
	j.torn = false
	j.file, j.size, j.next = f, int64(b.Len()), 2*int64(b.Len())+compactAfter
	return nil
}

// ordered gives the live entries, oldest first.
func (j *journal) ordered() []*entry {
	return slices.SortedFunc(maps.Values(j.live), func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := errors.Join(j.file.Sync(), j.file.Close())
	j.file = nil
	return err
}
