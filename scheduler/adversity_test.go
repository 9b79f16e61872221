package scheduler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/scheduler/call"
)

// TestARunIsNotRungWithoutEnd: an executor that takes each call, answers none, says that
// it is idle and shows an empty log may make the run each time.
func TestARunIsNotRungWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, exec := newMemory(), &fakeExec{hang: true, idle: true}
		s := New(m, exec, small())
		require.NoError(t, s.Start(t.Context()))
		m.put(planned(1))
		time.Sleep(14 * time.Minute)
		s.Close(t.Context())
		require.Len(t, exec.rings, 3)
		r := m.get(1)
		require.Equal(t, model.PhaseFinished, r.Phase)
		require.Equal(t, model.ReasonLost, r.Reason)
		require.Equal(t, "lost_in_vain", r.Note.Said[0].Code)
		require.Equal(t, 3, r.Note.Rings(), "each call is on the row")
	})
}

// refusing is a store that refuses an address, as the columns of a server do.
type refusing struct{ *memory }

func (r *refusing) ClaimRuns(ctx context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error) {
	for _, c := range claims {
		if strings.Contains(c.Address, "refused") {
			return nil, model.ErrBadRow
		}
	}
	time.Sleep(20 * time.Millisecond) // others join the batch
	return r.memory.ClaimRuns(ctx, owner, claims, nowMS)
}

// TestOneBadAddressHoldsUpNobody: others write into the tables, too.
func TestOneBadAddressHoldsUpNobody(t *testing.T) {
	for name, address := range map[string]string{"too long": "http://a/" + strings.Repeat("x", 300), "no text": "http://a/\xff", "refused by the database": "http://refused/"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, exec := &refusing{newMemory()}, &placeExec{}
				m.groups[2] = model.Group{ID: 2, AppName: "bad", AddressList: address}
				m.jobs[2] = model.Job{ID: 2, GroupID: 2, Handler: "h", GlueType: model.GlueBean, Route: model.RouteFirst}
				for id := range int64(60) {
					r := planned(id + 1)
					if id%3 == 0 {
						r.JobID = 2
					}
					m.put(r)
				}
				cfg := small()
				cfg.FastWorkers = 256
				s := New(m, exec, cfg)
				require.NoError(t, s.Start(t.Context()))
				time.Sleep(3 * time.Second)
				s.Close(t.Context())
				require.Len(t, exec.called(), 40)
				for id := range int64(60) {
					if r := m.get(id + 1); id%3 == 0 {
						require.Equal(t, model.ReasonBadAddress, r.Reason)
						require.Equal(t, model.PhaseFinished, r.Phase)
					} else {
						require.Equal(t, model.PhaseAccepted, r.Phase)
					}
				}
			})
		})
	}
}

// soon is a store that remembers when runs were claimed and which jobs were stopped.
type soon struct {
	*memory
	claimed map[int64]time.Time
	stopped []int
	given   []int64

	loses     bool    // the answers to claims ahead
	fails     bool    // no confirmation gets an answer
	confirmed []int64 // up to which instants
}

func (s *soon) ClaimRuns(ctx context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error) {
	s.mu.Lock()
	for _, c := range claims {
		s.claimed[c.RunID] = time.Now()
	}
	s.mu.Unlock()
	got, err := s.memory.ClaimRuns(ctx, owner, claims, nowMS)
	if s.loses && claims[0].Ahead {
		return nil, errors.New("invalid connection")
	}
	return got, err
}

func (s *soon) ConfirmAhead(ctx context.Context, owner string, until int64, ids []int64) ([]int64, error) {
	if s.fails {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.confirmed = append(s.confirmed, until)
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(s.stopped, s.get(id).JobID) })
	return s.memory.ConfirmAhead(ctx, owner, until, ids)
}

// Unclaim ends runs whose job was stopped, as the store does.
func (s *soon) Unclaim(_ context.Context, _ string, id int64, _ string, _ int64, _ time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[id].Phase, s.runs[id].Reason = model.PhaseMissed, model.ReasonPaused
	return false, nil
}

func (s *soon) GiveBack(ctx context.Context, owner string, ids []int64) error {
	s.given = append(s.given, ids...)
	return s.memory.GiveBack(ctx, owner, ids)
}

// ringTimes is an executor that remembers when it was rung.
type ringTimes struct {
	fakeExec
	at map[int64]time.Time
}

func (r *ringTimes) Run(_ context.Context, _ string, tr protocol.Trigger) call.Sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at[tr.LogID] = time.Now()
	return call.Sent{State: call.Accepted, Code: 200}
}

// TestClaimedBeforeAndRungAtTheInstant: runs of a schedule whose executor need not be
// asked. At the instant nothing is left but the call.
func TestClaimedBeforeAndRungAtTheInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, exec := &soon{memory: newMemory(), claimed: map[int64]time.Time{}}, &ringTimes{at: map[int64]time.Time{}}
		m.jobs[3] = model.Job{ID: 3, GroupID: 1, Handler: "h", GlueType: model.GlueBean, Route: model.RouteFailover}
		instant := time.Now().Add(2 * time.Second)
		for id := range int64(80) {
			r := planned(id + 1)
			r.PlannedMS = instant.UnixMilli()
			if id >= 78 {
				r.JobID = 3 // its executor has to be asked
			}
			m.put(r)
		}
		cfg := small()
		cfg.FastWorkers = 128
		s := New(m, exec, cfg)
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(1990 * time.Millisecond)
		exec.mu.Lock()
		require.Empty(t, exec.at, "never before the instant")
		exec.mu.Unlock()
		m.mu.Lock()
		require.Len(t, m.claimed, 78)
		m.mu.Unlock()
		time.Sleep(10 * time.Millisecond) // the instant
		synctest.Wait()
		exec.mu.Lock()
		m.mu.Lock()
		for id := range int64(78) {
			require.Equal(t, instant, exec.at[id+1])
			require.Less(t, m.claimed[id+1], instant)
		}
		require.Equal(t, []int64{instant.UnixMilli()}, m.confirmed, "once for all of them")
		m.mu.Unlock()
		exec.mu.Unlock()
		s.Close(t.Context())
	})
}

// TestWithoutAConfirmationRunsAreClaimedAtTheirInstant, as others are.
func TestWithoutAConfirmationRunsAreClaimedAtTheirInstant(t *testing.T) {
	for name, bad := range map[string]func(*soon){
		"the confirmation gets no answer": func(s *soon) { s.fails = true },
		"the claim ahead gets none":       func(s *soon) { s.loses = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, exec := &soon{memory: newMemory(), claimed: map[int64]time.Time{}}, &ringTimes{at: map[int64]time.Time{}}
				bad(m)
				instant := time.Now().Add(2 * time.Second)
				for id := range int64(leadTogether) {
					r := planned(id + 1)
					r.PlannedMS = instant.UnixMilli()
					m.put(r)
				}
				cfg := small()
				cfg.FastWorkers = 128
				s := New(m, exec, cfg)
				require.NoError(t, s.Start(t.Context()))
				time.Sleep(5 * time.Second)
				s.Close(t.Context())
				require.Len(t, exec.at, leadTogether)
				for _, at := range exec.at {
					require.WithinRange(t, at, instant, instant.Add(time.Second))
				}
				for id := range int64(leadTogether) {
					require.Equal(t, model.PhaseAccepted, m.get(id+1).Phase)
				}
			})
		})
	}
}

// leadTogether is how many runs are claimed ahead, for certain.
const leadTogether = 60

func TestWhatWasClaimedAheadIsGivenBack(t *testing.T) {
	t.Run("at a stop of the node", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m, exec := &soon{memory: newMemory(), claimed: map[int64]time.Time{}}, &ringTimes{at: map[int64]time.Time{}}
			for id := range int64(leadTogether) {
				r := planned(id + 1)
				r.PlannedMS += 1000
				m.put(r)
			}
			s := New(m, exec, small())
			require.NoError(t, s.Start(t.Context()))
			time.Sleep(900 * time.Millisecond)
			require.Equal(t, model.PhaseSending, m.get(1).Phase)
			s.Close(t.Context())
			require.Len(t, m.given, leadTogether)
			require.Equal(t, model.PhasePlanned, m.get(1).Phase)
			require.Empty(t, exec.at)
		})
	})
	t.Run("when its job is stopped", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m, exec := &soon{memory: newMemory(), claimed: map[int64]time.Time{}, stopped: []int{1}}, &ringTimes{at: map[int64]time.Time{}}
			for id := range int64(leadTogether) {
				r := planned(id + 1)
				r.PlannedMS += 1000
				m.put(r)
			}
			s := New(m, exec, small())
			require.NoError(t, s.Start(t.Context()))
			time.Sleep(1500 * time.Millisecond)
			require.Empty(t, exec.at)
			require.Equal(t, model.ReasonPaused, m.get(1).Reason)
			s.Close(t.Context())
		})
	})
}

// slowBeats is a store whose beats fail for a while: the node gets no processor time.
type slowBeats struct {
	*memory
	from, until time.Time
}

func (s *slowBeats) Beat(ctx context.Context, n model.Node) (bool, error) {
	if now := time.Now(); now.After(s.from) && now.Before(s.until) {
		return false, errors.New("no answer")
	}
	return s.memory.Beat(ctx, n)
}

// TestANodeThatIsStarvedForThreeSecondsRingsOn: it counts as dead after four.
func TestANodeThatIsStarvedForThreeSecondsRingsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m := &slowBeats{memory: newMemory(), from: start.Add(1500 * time.Millisecond), until: start.Add(3500 * time.Millisecond)}
		exec := &ringTimes{at: map[int64]time.Time{}}
		for id := range int64(8) {
			r := planned(id + 1)
			r.PlannedMS = start.Add(time.Duration(id+1) * time.Second).UnixMilli()
			m.put(r)
		}
		s := New(m, exec, small())
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(9 * time.Second)
		s.Close(t.Context())
		for id := range int64(8) {
			require.WithinDuration(t, start.Add(time.Duration(id+1)*time.Second), exec.at[id+1], 50*time.Millisecond)
		}
	})
}

// TestWaitingOnPurposeIsNoBacklog: neither late nor too much.
func TestWaitingOnPurposeIsNoBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, exec := &counted{newMemory()}, &fakeExec{sent: call.Sent{State: call.Accepted, Code: 200}}
		m.jobs[1] = model.Job{ID: 1, GroupID: 1, Handler: "h", GlueType: model.GlueBean, Route: model.RouteGlobalBusyover}
		for id := range int64(5) {
			m.put(planned(id + 1))
		}
		s := New(m, exec, small())
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(30 * time.Second)
		load := s.Stats().Load
		require.Zero(t, load.Backlog)
		require.Zero(t, load.Over)
		exec.mu.Lock()
		exec.idle = true
		exec.mu.Unlock()
		time.Sleep(30 * time.Second)
		require.Empty(t, m.inPhase(model.PhasePlanned))
		require.Zero(t, s.Stats().Lateness.Sum, "they were not late")
		s.Close(t.Context())
	})
}

// counted is a store that counts what is due.
type counted struct{ *memory }

func (c *counted) CountDue(_ context.Context, _ string, nowMS int64) (n int, oldest int64, err error) {
	for _, r := range c.inPhase(model.PhasePlanned) {
		if r.PlannedMS <= nowMS {
			if n++; oldest == 0 || r.PlannedMS < oldest {
				oldest = r.PlannedMS
			}
		}
	}
	return n, oldest, nil
}

// TestMoreThanCanBeSent is said while it lasts.
func TestMoreThanCanBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, exec := &counted{newMemory()}, &slowly{}
		for id := range int64(1000) {
			m.put(planned(id + 1))
		}
		cfg := small()
		cfg.FastWorkers = 16
		s := New(m, exec, cfg)
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(12 * time.Second)
		load := s.Stats().Load
		require.Positive(t, load.Over)
		require.Positive(t, load.Backlog)
		require.Greater(t, load.Oldest, 5*time.Second)
		time.Sleep(3 * time.Minute)
		require.Zero(t, s.Stats().Load.Over, "it has caught up")
		s.Close(t.Context())
	})
}

// slowly is an executor that takes its time for each answer.
type slowly struct{ fakeExec }

func (*slowly) Run(context.Context, string, protocol.Trigger) call.Sent {
	time.Sleep(200 * time.Millisecond)
	return call.Sent{State: call.Accepted, Code: 200}
}
