package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/scheduler/call"
)

// lastCalls remembers what came of the last call to each address until it is told.
type lastCalls struct {
	mu sync.Mutex
	m  map[string]*callNote
}

type callNote struct {
	last   model.LastCall
	told   model.LastCall // what was written down last
	untold bool
}

const (
	// mostCalls bounds the addresses that are remembered.
	mostCalls = 10_000
	// sameCallEvery is how often it is written down that an address goes on as before.
	sameCallEvery = 10 * time.Second
)

func (c *lastCalls) note(l model.LastCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.m[l.Address]
	if n == nil {
		if c.m == nil {
			c.m = map[string]*callNote{}
		}
		for a := range c.m { // some other one makes room
			if len(c.m) < mostCalls {
				break
			}
			delete(c.m, a)
		}
		n = &callNote{}
		c.m[l.Address] = n
	}
	if l.AtMS >= n.last.AtMS { // calls of one address overtake each other
		n.last, n.untold = l, true
	}
}

// take gives what is to be written down now: what has changed, and what was written long ago.
func (c *lastCalls) take() (out []model.LastCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.m {
		if n.untold && (n.told.AtMS == 0 || n.last.Reason != n.told.Reason || n.last.AtMS-n.told.AtMS >= sameCallEvery.Milliseconds()) {
			n.told, n.untold = n.last, false
			out = append(out, n.last)
		}
	}
	return out
}

// putBack makes what could not be written new again.
func (c *lastCalls) putBack(list []model.LastCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range list {
		if n := c.m[l.Address]; n != nil {
			n.told, n.untold = model.LastCall{}, true
		}
	}
}

// ShareCalls writes down what came of the last calls, for people who look at executors.
func (d *Dispatcher) ShareCalls(ctx context.Context, _ time.Time) error {
	list := d.calls.take()
	if len(list) == 0 {
		return nil
	}
	if err := d.store.NoteCalls(ctx, list); err != nil {
		d.calls.putBack(list)
		return fmt.Errorf("last calls of addresses: %w", err)
	}
	return nil
}

func callReason(sent call.Sent) string {
	switch {
	case sent.State == call.Accepted:
		return ""
	case sent.Unreachable:
		return model.ReasonUnreached
	case sent.WrongToken:
		return model.ReasonWrongToken
	case sent.State == call.Refused:
		return model.ReasonRefused
	}
	return model.CallNoAnswer
}

// probeReason judges a question; busy is an answer.
func probeReason(err error, said call.Answer) string {
	switch {
	case err == nil:
		return ""
	case protocol.WrongToken(said.Code, said.Text):
		return model.ReasonWrongToken
	case said.Code != 0:
		return model.ReasonRefused
	case errors.Is(err, call.ErrGone):
		return model.ReasonUnreached
	}
	return model.CallNoAnswer
}
