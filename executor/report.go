package executor

import (
	"context"
	"errors"
	"time"
)

// report sends results to the centers until ctx ends.
func (e *Executor) report(ctx context.Context) {
	wait := time.Duration(0)
	for {
		n, err := e.reportOnce(ctx, e.o.Now())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.dropExpired()
			wait = e.backoff(wait)
			e.log.Warn("results were not taken", "unsent", e.out.unsent(), "retry_in", wait, "error", err)
			if !pause(ctx, wait) {
				return
			}
			continue
		}
		wait = 0
		if n > 0 {
			continue
		}
		t := time.NewTimer(e.out.nextDue(e.o.Now()))
		select {
		case <-ctx.Done():
		case <-e.out.wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// reportOnce sends one batch and then, one by one, results that were set aside
// and are due. It gives the number of results that made progress. An error
// means that no center is there or that all were refused: wait before the next.
func (e *Executor) reportOnce(ctx context.Context, now time.Time) (int, error) {
	moved := 0
	if batch := e.out.batch(); len(batch) > 0 {
		err := e.deliver(ctx, batch)
		var refusal *refusedError
		switch {
		case err == nil:
			e.sent(batch...)
			e.out.taken(len(batch))
		case errors.As(err, &refusal):
			e.log.Warn("results were refused, they are sent one by one", "results", len(batch), "error", err)
			e.out.refused(len(batch))
		default:
			return 0, err
		}
		moved = len(batch)
	}
	n, err := e.reportAside(ctx, now)
	return moved + n, err
}

// deliver makes one call, which the end of ctx does not cut: the center would
// get the results twice.
func (e *Executor) deliver(ctx context.Context, list []result) error {
	return e.centers.first(context.WithoutCancel(ctx), "callback", callbacks(list))
}

// reportAside sends up to batchSize results one by one.
func (e *Executor) reportAside(ctx context.Context, now time.Time) (int, error) {
	due := e.out.due(now, batchSize)
	var left []*setAside
	defer func() { e.out.back(left) }()
	taken := 0
	var last error
	for i, s := range due {
		if ctx.Err() != nil {
			left = append(left, due[i:]...)
			return taken, ctx.Err()
		}
		err := e.deliver(ctx, []result{s.result})
		var refusal *refusedError
		switch {
		case err == nil:
			e.sent(s.result)
			taken++
			continue
		case !errors.As(err, &refusal):
			left = append(left, due[i:]...)
			return taken, err
		}
		last = err
		if s.At < now.Add(-keepFor).UnixMilli() {
			e.giveUp(s.result)
			taken++
			continue
		}
		s.fails++
		s.next = now.Add(min(e.o.retryMax, e.o.retryMin<<min(s.fails-1, 10)))
		left = append(left, s)
		if s.fails == 1 {
			e.log.Warn("result was refused", "log_id", s.LogID, "error", err)
		}
	}
	if len(due) == batchSize && taken == 0 {
		return 0, last
	}
	return taken, nil
}

// dropExpired gives up results that no center has taken for a week.
func (e *Executor) dropExpired() {
	for _, r := range e.out.expire(e.o.Now()) {
		e.giveUp(r)
	}
}

func (e *Executor) giveUp(r result) {
	e.log.Error("result was given up: no center has taken it for a week", "log_id", r.LogID, "code", r.Code)
	e.sent(r)
}

// sent notes that the results need not be kept.
func (e *Executor) sent(list ...result) {
	ids := make([]int64, len(list))
	for i, r := range list {
		ids[i] = r.LogID
	}
	e.keep(entry{Sent: ids})
}

// flush sends what can be sent until nothing moves or ctx ends.
func (e *Executor) flush(ctx context.Context) {
	for e.out.unsent() > 0 && ctx.Err() == nil {
		if n, err := e.reportOnce(ctx, e.o.Now()); n == 0 || err != nil {
			break
		}
	}
	if n := e.out.unsent(); n > 0 {
		e.log.Warn("results are kept for the next start", "unsent", n)
	}
}

// backoff doubles the wait between retryMin and retryMax.
func (e *Executor) backoff(last time.Duration) time.Duration {
	return min(max(2*last, e.o.retryMin), e.o.retryMax)
}
