package executor

import (
	"context"
	"errors"
	"strconv"

	"github.com/carillon-scheduler/carillon/protocol"
)

// Values of the wire (reference: protocol.md 2.3).
const (
	glueBean     = "BEAN"
	blockDiscard = "DISCARD_LATER"
	blockCover   = "COVER_EARLY"
)

// maxUnsent is the number of unsent results at which no more runs are taken.
const maxUnsent = 100_000

// jobQueue holds what one job does in this process. It exists only while there
// is something, with one goroutine that works it off in order.
type jobQueue struct {
	running *task
	waiting []*task
}

// submit takes a run or says why not. When it answers 200, the run is in the
// journal.
func (e *Executor) submit(tr protocol.Trigger) protocol.Answer {
	if err := e.acceptable(tr); err != nil {
		return protocol.Refuse(saidOf(err), "%v", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.phase != started:
		return protocol.Refuse(protocol.Say("sdk_stopping"), "this executor is stopping")
	case e.active[tr.LogID]:
		return protocol.Refuse(protocol.Say("sdk_queued"), "run %d is already queued here", tr.LogID)
	case e.done.has(tr.LogID):
		return protocol.Refuse(protocol.Say("sdk_done"), "run %d is already done here", tr.LogID)
	case e.out.unsent() >= maxUnsent:
		return protocol.Refuse(protocol.Say("sdk_unsent", "Count", maxUnsent), "%d results are waiting for a center to take them: no more runs", maxUnsent)
	}
	if q := e.queues[tr.JobID]; q != nil {
		switch tr.BlockStrategy {
		case blockDiscard:
			return protocol.Refuse(protocol.Say("sdk_busy"), "job %d is busy here and its block strategy is %s", tr.JobID, blockDiscard)
		case blockCover:
			e.clear(q, killed(protocol.Say("sdk_covered", "Run", strconv.FormatInt(tr.LogID, 10)),
				protocol.Say("sdk_covered_waiting", "Run", strconv.FormatInt(tr.LogID, 10)), "killed: run %d replaces it (%s)", tr.LogID, blockCover))
		default: // unknown values queue too
			if len(q.waiting) >= e.o.QueueLimit {
				return protocol.Refuse(protocol.Say("sdk_queue_full", "Count", len(q.waiting)), "%d runs of job %d are waiting here already", len(q.waiting), tr.JobID)
			}
		}
	}
	if err := e.journal.add(entry{Accept: &tr, At: e.o.Now().UnixMilli()}); err != nil {
		e.log.Error("run was refused: journal cannot be written", "job_id", tr.JobID, "log_id", tr.LogID, "error", err)
		return protocol.Fail("this executor cannot write its journal: %v", err)
	}
	e.enqueue(tr)
	return protocol.OK(nil)
}

// enqueue appends a run that is in the journal. The caller holds e.mu.
func (e *Executor) enqueue(tr protocol.Trigger) {
	e.active[tr.LogID] = true
	t := &task{trigger: tr}
	if q := e.queues[tr.JobID]; q != nil {
		q.waiting = append(q.waiting, t)
		return
	}
	q := &jobQueue{waiting: []*task{t}}
	e.queues[tr.JobID] = q
	e.workers++
	go func() {
		for t := e.next(q, tr.JobID); t != nil; t = e.next(q, tr.JobID) {
			e.execute(t)
		}
	}()
}

// next takes the next run of a job. Without one the queue is gone.
func (e *Executor) next(q *jobQueue, jobID int64) *task {
	e.mu.Lock()
	defer e.mu.Unlock()
	q.running = nil
	if len(q.waiting) == 0 || e.frozen {
		delete(e.queues, jobID)
		e.workers--
		e.checkDrained()
		return nil
	}
	t := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	q.running = t
	return t
}

// clear tells the running run to end and reports the waiting ones as failed.
// The caller holds e.mu.
func (e *Executor) clear(q *jobQueue, cause error) {
	for _, t := range q.waiting {
		res := protocol.Callback{Code: protocol.CodeFail, Msg: cause.Error() + " (before it began)"}
		if c, ok := errors.AsType[*stopCause](cause); ok {
			res.Said = c.waiting
		}
		e.finishLocked(t.trigger, res)
	}
	q.waiting = nil
	if q.running != nil {
		q.running.cancel(cause)
	}
}

// kill ends everything of a job. It is no error when there is nothing.
func (e *Executor) kill(jobID int64) protocol.Answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.queues[jobID]
	if q == nil {
		return protocol.Answer{Code: protocol.CodeSuccess, Msg: "nothing of this job runs here"}
	}
	e.clear(q, killed(protocol.Say("sdk_killed"), protocol.Say("sdk_killed_waiting"), "killed by the scheduling center"))
	return protocol.OK(nil)
}

// busy reports whether the job, or any job when it is 0, runs or waits.
func (e *Executor) busy(jobID int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if jobID == 0 {
		return len(e.queues) > 0
	}
	return e.queues[jobID] != nil
}

// finish reports the end of a run, durably.
func (e *Executor) finish(tr protocol.Trigger, res protocol.Callback) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.finishLocked(tr, res)
}

func (e *Executor) finishLocked(tr protocol.Trigger, res protocol.Callback) {
	r := result{LogID: tr.LogID, LogTime: tr.LogDateTime, Code: res.Code, Msg: cutMsg(res.Msg), Said: res.Said, At: e.o.Now().UnixMilli()}
	e.keep(entry{Done: &r})
	delete(e.active, tr.LogID)
	e.done.add(tr.LogID)
	e.out.add(r)
}

// keep writes to the journal what has happened already: a failure is logged.
func (e *Executor) keep(en entry) {
	if err := e.journal.add(en); err != nil {
		e.log.Error("journal cannot be written", "error", err)
	}
}

// isActive reports whether the run waits or runs here.
func (e *Executor) isActive(logID int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.active[logID]
}

// recent remembers the last ids that were added.
type recent struct {
	ring []int64
	next int
	set  map[int64]struct{}
}

func newRecent(n int) *recent {
	return &recent{ring: make([]int64, n), set: make(map[int64]struct{}, n)}
}

func (r *recent) has(id int64) bool {
	_, ok := r.set[id]
	return ok
}

// add remembers an id, which is not 0, in place of the oldest.
func (r *recent) add(id int64) {
	if r.has(id) {
		return
	}
	delete(r.set, r.ring[r.next])
	r.ring[r.next] = id
	r.set[id] = struct{}{}
	r.next = (r.next + 1) % len(r.ring)
}
