package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// askPrefix begins the parameter of a run by hand.
const askPrefix = "ask-"

// ask is one run that somebody wanted by hand. Who is told that nothing was changed
// tries again; who is told that nobody knows does not.
type ask struct {
	param        string
	acknowledged bool // the center said yes
	unclear      bool // the center or the line left it open
}

// askTries is how often somebody tries again.
const askTries = 5

// askFor wants runs by hand of a center, one after the other, for a while.
func (s *site) askFor(ctx context.Context, center string, lasts time.Duration) {
	until := time.Now().Add(lasts)
	for time.Now().Before(until) && ctx.Err() == nil {
		a := ask{param: fmt.Sprintf("%s%d", askPrefix, len(s.asks))}
		for range askTries {
			body, _ := json.Marshal(map[string]any{"id": s.byHand, "executorParam": a.param})
			reply, err := post(ctx, center+"/api/triggerJob", s.token, body)
			if a.heard(reply, err) {
				break
			}
			_ = pause(ctx, 200*time.Millisecond)
		}
		s.asks = append(s.asks, a)
		_ = pause(ctx, 200*time.Millisecond)
	}
}

// heard notes an answer and reports whether a sensible person leaves it at that.
func (a *ask) heard(reply protocol.Reply, err error) bool {
	switch {
	case err != nil:
		a.unclear = true
	case reply.Code == protocol.CodeSuccess:
		a.acknowledged = true
	case strings.Contains(reply.Msg, "nothing was changed"):
		return false
	default:
		a.unclear = true
	}
	return true
}

// judgeAsks compares what was asked for with how often it reached executors.
func judgeAsks(asks []ask, made map[string]int) (wrong []string) {
	for _, a := range asks {
		switch n := made[a.param]; {
		case n > 1:
			wrong = append(wrong, fmt.Sprintf("a run by hand (%s) was wanted once and made %d times: the center had said that nothing was changed", a.param, n))
		case n == 1 && !a.acknowledged && !a.unclear:
			wrong = append(wrong, fmt.Sprintf("a run by hand (%s) was made although the center said that nothing was changed", a.param))
		case n == 0 && a.acknowledged:
			wrong = append(wrong, fmt.Sprintf("a run by hand (%s) was acknowledged and never made", a.param))
		}
	}
	return wrong
}

// askedFor gives how often runs by hand reached executors, by their parameter.
func (s *site) askedFor() map[string]int {
	out := map[string]int{}
	for _, c := range s.counters {
		c.mu.Lock()
		for param, n := range c.asked {
			out[param] += n
		}
		c.mu.Unlock()
	}
	return out
}
