package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrStopped is returned to those who come after a Batcher has stopped.
var ErrStopped = errors.New("the scheduler is stopping")

// Batcher is group commit: whoever comes while a batch is being written waits
// for the next one and is released when that is stored. It never waits for
// company, so a lone item costs one write and a crowd shares one.
type Batcher[In, Out any] struct {
	// Alone reports whether an error may be the fault of one item: then the batch is
	// written in halves until the bad ones stand alone. nil = never.
	Alone func(error) bool

	write func(context.Context, []In) ([]Out, error)
	max   int
	in    chan batchItem[In, Out]
	done  chan struct{}
}

type batchItem[In, Out any] struct {
	in   []In
	back chan batchBack[Out] // buffered: the writer never waits for a reader
}

type batchBack[Out any] struct {
	out []Out
	err error
}

// NewBatcher makes a Batcher whose batches hold about limit items. write
// returns one result per item, in order.
func NewBatcher[In, Out any](limit int, write func(context.Context, []In) ([]Out, error)) *Batcher[In, Out] {
	return &Batcher[In, Out]{write: write, max: limit, in: make(chan batchItem[In, Out], limit), done: make(chan struct{})}
}

// Run writes batches until ctx ends; it then writes what is queued with the
// detached context last and returns.
func (b *Batcher[In, Out]) Run(ctx, last context.Context) {
	defer close(b.done)
	for {
		select {
		case <-ctx.Done():
			for {
				select {
				case first := <-b.in:
					b.batch(last, first)
				default:
					return
				}
			}
		case first := <-b.in:
			b.batch(last, first)
		}
	}
}

func (b *Batcher[In, Out]) batch(ctx context.Context, first batchItem[In, Out]) {
	waiting := []batchItem[In, Out]{first}
	items := append(make([]In, 0, len(first.in)+len(b.in)), first.in...) // a copy: it belongs to the caller
	for len(items) < b.max {
		select {
		case next := <-b.in:
			waiting = append(waiting, next)
			items = append(items, next.in...)
			continue
		default:
		}
		break
	}
	b.release(ctx, waiting, items)
}

// release writes what is waiting and tells each what became of its items.
func (b *Batcher[In, Out]) release(ctx context.Context, waiting []batchItem[In, Out], items []In) {
	out, err := b.safely(ctx, items)
	if err != nil && len(waiting) > 1 && b.Alone != nil && b.Alone(err) {
		half, n := len(waiting)/2, 0
		for _, w := range waiting[:half] {
			n += len(w.in)
		}
		b.release(ctx, waiting[:half], items[:n])
		b.release(ctx, waiting[half:], items[n:])
		return
	}
	at := 0
	for _, w := range waiting {
		back := batchBack[Out]{err: err}
		if err == nil {
			back.out = out[at : at+len(w.in)]
		}
		at += len(w.in)
		w.back <- back
	}
}

// safely turns a panic into an error, so that nobody waits for ever.
func (b *Batcher[In, Out]) safely(ctx context.Context, items []In) (out []Out, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return b.write(ctx, items)
}

// Do hands items in and waits until they are stored. When ctx ends first the
// items may or may not be stored.
func (b *Batcher[In, Out]) Do(ctx context.Context, items ...In) ([]Out, error) {
	item := batchItem[In, Out]{in: items, back: make(chan batchBack[Out], 1)}
	select {
	case b.in <- item:
	case <-b.done:
		return nil, ErrStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case back := <-item.back:
		return back.out, back.err
	case <-b.done:
		// The last batch may have answered just before.
		select {
		case back := <-item.back:
			return back.out, back.err
		default:
			return nil, ErrStopped
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
