package console

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// Work on many objects is done in pieces, so that nobody waits before a page that does not
// move: each answer says how far it is, and carries what is left to do and what was done.
// The browser asks for the next piece, or ends the work. The server keeps nothing of it:
// any node can go on, and who closes the page ends it.

const (
	// workTime is how long one piece takes, about.
	workTime = 700 * time.Millisecond
	// mostUndo bounds in bytes what is carried to take work back.
	mostUndo = 400_000
)

// work is what is to be done and what came of it.
type work struct {
	Do    string     `json:"do"`
	Parts []workPart `json:"parts"` // what is left
	Total int        `json:"total"`

	Changed int        `json:"changed"`
	Same    int        `json:"same"`
	Failed  int        `json:"failed"`
	Bad     []workLine `json:"bad,omitempty"`
	Good    []workLine `json:"good,omitempty"`
	Undo    []workPart `json:"undo,omitempty"`
	UndoDo  string     `json:"undoDo,omitempty"`
	Full    bool       `json:"full,omitempty"` // more than can be carried: nothing takes it back
}

// workPart is some objects and the value that they get.
type workPart struct {
	IDs    string  `json:"ids"` // as idText writes them
	Value  string  `json:"value,omitempty"`
	Expect *string `json:"expect,omitempty"`
}

// workLine is what became of one of them.
type workLine struct {
	ID   int64  `json:"id"`
	Name string `json:"name,omitempty"`
	Text string `json:"text,omitempty"`
	Run  int64  `json:"run,omitempty"`
	Same bool   `json:"same,omitempty"`
}

// newWork is work that has not begun.
func newWork(do, value string, ids []int64) *work {
	return &work{Do: do, Total: len(ids), Parts: []workPart{{IDs: idText(ids), Value: value}}}
}

// readWork reads what a page has carried. It comes from a browser: whatever it asks for is
// checked as if it were asked for anew.
func readWork(text string) (*work, error) {
	var w work
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return nil, model.Errf(model.CodeInvalid, "error.invalid")
	}
	left := 0
	for _, p := range w.Parts {
		ids, err := readIDs(p.IDs)
		if err != nil {
			return nil, err
		}
		if left += len(ids); left > mostPicked {
			return nil, tooMany(mostPicked)
		}
	}
	w.Bad, w.Good = w.Bad[:min(len(w.Bad), views.MostBatchLines)], w.Good[:min(len(w.Good), views.MostBatchLines)]
	w.Total = max(w.Total, left)
	return &w, nil
}

func (w *work) text() string {
	raw, _ := json.Marshal(w) // plain strings and numbers always marshal
	return string(raw)
}

// doer does work to some objects that get one value. Back, when not nil, gives what takes
// an item back.
type doer struct {
	piece int // objects of one call
	call  func(ctx context.Context, ids []int64, p workPart) ([]jobs.BatchItem, error)
	back  func(p workPart, item jobs.BatchItem) (do string, part workPart)
}

// goOn works until it is done or its time is up.
func (c *Console) goOn(r *request, w *work, d doer) error {
	began := c.clock.Now()
	undo, size := map[string]int{}, 0
	for i, p := range w.Undo {
		undo[partKey(p)] = i
		size += len(p.IDs) + len(p.Value) + 30
	}
	for len(w.Parts) > 0 {
		p := w.Parts[0]
		ids, err := readIDs(p.IDs)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			w.Parts = w.Parts[1:]
			continue
		}
		if c.clock.Now().Sub(began) >= workTime {
			return nil
		}
		some := ids[:min(d.piece, len(ids))]
		items, err := d.call(r.Request().Context(), some, p)
		done := map[string][]int64{}
		for _, item := range items {
			w.note(r, item)
			if d.back == nil || !item.Changed || item.Err != nil || w.Full {
				continue
			}
			do, part := d.back(p, item)
			w.UndoDo = do
			key := partKey(part)
			if _, there := undo[key]; !there {
				undo[key] = len(w.Undo)
				w.Undo = append(w.Undo, part)
				size += len(part.Value) + 30
			}
			done[key] = append(done[key], item.ID)
			size += 8
		}
		for key, list := range done {
			had, _ := readIDs(w.Undo[undo[key]].IDs) // written by us
			w.Undo[undo[key]].IDs = idText(append(had, list...))
		}
		if size > mostUndo {
			w.Full, w.Undo = true, nil
		}
		if err != nil {
			return err
		}
		w.Parts[0].IDs = idText(ids[len(some):])
	}
	return nil
}

// partKey tells parts of different values apart.
func partKey(p workPart) string {
	if p.Expect == nil {
		return "-" + p.Value
	}
	return strconv.Quote(*p.Expect) + p.Value
}

func (w *work) note(r *request, item jobs.BatchItem) {
	l := workLine{ID: item.ID, Name: item.Name, Run: item.NewID}
	switch {
	case item.Err != nil:
		w.Failed++
		l.Text = message(r.loc, item.Err)
		for _, text := range fieldMessages(r.loc, item.Err) {
			l.Text = text
		}
		if len(w.Bad) < views.MostBatchLines {
			w.Bad = append(w.Bad, l)
		}
		return
	case item.Changed:
		w.Changed++
	default:
		w.Same++
		l.Same = true
	}
	if len(w.Good) < views.MostBatchLines {
		w.Good = append(w.Good, l)
	}
}

// left is how many are not done.
func (w *work) left() int { return max(0, w.Total-w.Changed-w.Same-w.Failed) }

// answerWork does a piece and says how far it is, or what became of each: what did not
// work first. An error in the middle ends the work; what was done before is said all the same.
func (c *Console) answerWork(r *request, v views.Batch, w *work, d doer, link func(workLine) string) error {
	var err error
	stopped := r.FormValue("stop") != ""
	if !stopped {
		before := w.left()
		err = c.goOn(r, w, d)
		if err != nil && w.left() == before && before == w.Total {
			return err
		}
		if err == nil && len(w.Parts) > 0 {
			v.Progress, v.DoneCount, v.Total, v.Work = true, w.Total-w.left(), w.Total, w.text()
			v.Heading = r.loc.T("batch.working", "Done", r.loc.Number(int64(v.DoneCount)), "Total", r.loc.Number(int64(w.Total)))
			return c.drawBatch(r, v)
		}
	}
	for _, l := range w.Bad {
		v.Lines = append(v.Lines, views.BatchLine{Class: "bad", Name: nameOrNumber(l), Text: l.Text, URL: link(l)})
	}
	for _, l := range w.Good {
		line := views.BatchLine{Class: "ok", Name: nameOrNumber(l), Text: r.loc.T("batch.done"), URL: link(l)}
		switch {
		case l.Run > 0:
			line.Text = r.loc.T("run.title", "ID", l.Run)
		case l.Same:
			line.Class, line.Text = "off", r.loc.T("batch.same")
		}
		v.Lines = append(v.Lines, line)
	}
	v.Lines = v.Lines[:min(len(v.Lines), views.MostBatchLines)]
	v.More = max(0, w.Changed+w.Same+w.Failed-len(v.Lines))
	v.Heading, v.Done = r.loc.T("batch.result", "Changed", w.Changed, "Same", w.Same, "Failed", w.Failed), true
	switch {
	case err != nil:
		c.log.ErrorContext(r.Request().Context(), "a batch broke off", "request_id", r.id, "done", w.Changed, "error", err)
		v.Text = r.loc.T("batch.broken")
	case stopped && w.left() > 0:
		v.Text = r.loc.N("batch.stopped", w.left())
	case w.Full:
		v.Text = r.loc.T("batch.no_undo")
	}
	if len(w.Undo) > 0 {
		v.Undo, v.UndoCount = w.UndoDo, w.Changed
		v.Work = (&work{Do: w.UndoDo, Parts: w.Undo, Total: w.Changed}).text()
	}
	if r.htmx() {
		r.trigger(map[string]any{"carillon:refresh": "", "carillon:batch": ""})
	}
	return c.drawBatch(r, v)
}

func nameOrNumber(l workLine) string {
	if l.Name == "" {
		return "#" + strconv.FormatInt(l.ID, 10)
	}
	return l.Name
}

func (c *Console) drawBatch(r *request, v views.Batch) error {
	status := http.StatusOK
	if len(v.Errors) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return r.pageOr(status, views.BatchPage(v), views.BatchFragment(v))
}
