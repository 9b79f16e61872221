package settle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/config"
)

// LostMonitor looks into runs that an executor took and has not reported. Before
// a run is declared lost its executor is asked: a long healthy run never is. One
// whose executor started anew is noticed soon: it is idle while the run should
// be busy.
type LostMonitor struct {
	store    Store
	exec     call.Executor
	cfg      config.Config
	Leads    func() bool
	Complete func(context.Context, []model.Handled) ([]model.HandledStatus, error)

	suspects map[int64]suspect // the loop alone uses it

	mu     sync.Mutex
	proven map[string]bool      // addresses that were seen busy: their idle means idle
	gone   map[string]time.Time // when nothing listened at an address, last
}

// suspect is a run that its executor seems not to have any more.
type suspect struct {
	idle   time.Time // since when the executor is known not to run the job
	gone   time.Time // since when nothing listens there
	silent time.Time // since when it does not answer otherwise
}

const (
	// lostLook is how old a run is when its executor is asked first: most are over by then.
	lostLook = time.Second
	// callbackGrace is how long after its end a result may still be on the way:
	// Java executors resend every 30 s (reference: protocol.md 3.3).
	callbackGrace = 40 * time.Second
	// doubtGrace is the same for an executor that was never seen busy: it may
	// call itself idle always.
	doubtGrace = 90 * time.Second
	// lostProbes bounds the questions of one pass.
	lostProbes = 4096
	// lostMemory bounds what is remembered of addresses.
	lostMemory = 10000
)

func NewLostMonitor(store Store, exec call.Executor, cfg config.Config) *LostMonitor {
	return &LostMonitor{store: store, exec: exec, cfg: cfg, suspects: map[int64]suspect{}, proven: map[string]bool{}, gone: map[string]time.Time{}}
}

// NoteGone remembers that nothing listened at an address.
func (m *LostMonitor) NoteGone(address string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.gone) >= lostMemory {
		clear(m.gone)
	}
	m.gone[address] = now
}

func (m *LostMonitor) noteBusy(address string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.proven) >= lostMemory {
		clear(m.proven)
	}
	m.proven[address] = true
}

// trusts reports whether an idle answer of the address is to be believed: it was
// seen busy once, or it went away after the run had been sent.
func (m *LostMonitor) trusts(r *model.Run) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.proven[r.Address] || m.gone[r.Address].After(sentAt(r))
}

// place is a job at an address: one question answers for all its runs.
type place struct {
	address string
	job     int
}

// Check looks at all runs in progress once.
func (m *LostMonitor) Check(ctx context.Context, now time.Time) error {
	if !m.Leads() {
		m.suspects = map[int64]suspect{}
		return nil
	}
	runs, err := m.open(ctx, now)
	if err == nil {
		runs, err = openOnly(ctx, m.store, runs, now)
	}
	if err != nil || len(runs) == 0 {
		m.suspects = map[int64]suspect{}
		return err
	}
	regs, err := m.store.Registrations(ctx)
	if err != nil {
		return fmt.Errorf("registrations: %w", err)
	}
	beating := make(map[string]bool, len(regs))
	for _, r := range regs {
		beating[r.Address] = now.Sub(r.Beat) < m.cfg.RegistryDead
	}
	answers := m.ask(ctx, runs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var lost []model.Handled
	next := make(map[int64]suspect, len(m.suspects))
	for i := range runs {
		r := &runs[i]
		s := m.suspects[r.ID]
		if a, asked := answers[place{r.Address, r.JobID}]; asked {
			s = s.judge(a, now)
		}
		if s == (suspect{}) {
			continue
		}
		next[r.ID] = s
		if why := m.verdict(now, r, s, beating[r.Address]); why != "" {
			m.cfg.Logger.Warn("run is lost", "log_id", r.ID, "job_id", r.JobID, "address", r.Address, "why", why)
			lost = append(lost, model.Handled{RunID: r.ID, Code: model.CodeFail, Reason: model.ReasonLost, AtMS: now.UnixMilli(), Said: []model.Said{model.Say(why, "Address", r.Address)}})
		}
	}
	m.suspects = next
	if len(lost) == 0 {
		return nil
	}
	_, err = m.Complete(ctx, lost)
	return err
}

// open lists the runs in progress that are worth a question.
func (m *LostMonitor) open(ctx context.Context, now time.Time) ([]model.Run, error) {
	var out []model.Run
	for after := int64(0); len(out) < m.cfg.RingCapacity; {
		part, err := m.store.AcceptedRuns(ctx, now.Add(-lostLook).UnixMilli(), after, 1000)
		if err != nil {
			return nil, fmt.Errorf("open runs: %w", err)
		}
		out = append(out, part...)
		if len(part) < 1000 {
			break
		}
		after = part[len(part)-1].ID
	}
	return out, nil
}

// reply is what an executor said about a job.
type reply struct {
	idle bool
	err  error
}

// ask puts one question per job and address, the first lostProbes of them; map
// order makes that others get their turn with the next pass. An executor that does
// not answer is asked once: the rest of its jobs get the same answer.
func (m *LostMonitor) ask(ctx context.Context, runs []model.Run) map[place]reply {
	jobs := map[string]map[int]bool{}
	for i := range runs {
		a := runs[i].Address
		if jobs[a] == nil {
			jobs[a] = map[int]bool{}
		}
		jobs[a][runs[i].JobID] = true
	}
	var mu sync.Mutex
	out := map[place]reply{}
	var g errgroup.Group
	g.SetLimit(m.cfg.ProbeParallel)
	n := 0
	for address, ids := range jobs {
		if n += len(ids); n > lostProbes && len(ids) < n {
			break
		}
		g.Go(func() error {
			var silent error
			began := m.cfg.Now()
			for id := range ids {
				if m.cfg.Now().Sub(began) > placeTime {
					return nil // the rest in another pass, in another order
				}
				r := reply{err: silent}
				if silent == nil {
					r = m.askOne(ctx, address, id)
					silent = r.err
				}
				mu.Lock()
				out[place{address, id}] = r
				mu.Unlock()
			}
			return nil
		})
	}
	_ = g.Wait() // the functions give no errors
	return out
}

func (m *LostMonitor) askOne(ctx context.Context, address string, job int) reply {
	ask, cancel := context.WithTimeout(ctx, m.cfg.SendTimeout)
	defer cancel()
	idle, err := m.exec.IdleBeat(ask, address, int64(job))
	switch {
	case errors.Is(err, call.ErrGone):
		m.NoteGone(address, m.cfg.Now())
	case err == nil && !idle:
		m.noteBusy(address)
	}
	return reply{idle, err}
}

// judge adds an answer to what is known. That the job was idle once is enough: a
// run in progress keeps it busy until its end.
func (s suspect) judge(a reply, now time.Time) suspect {
	switch {
	case errors.Is(a.err, call.ErrGone):
		if s.gone.IsZero() {
			s.gone = now
		}
	case a.err != nil:
		if s.silent.IsZero() {
			s.silent = now
		}
	default:
		s.gone, s.silent = time.Time{}, time.Time{}
		if a.idle && s.idle.IsZero() {
			s.idle = now
		}
	}
	return s
}

// verdict says why a run is lost, as a code of model.Said, or "".
func (m *LostMonitor) verdict(now time.Time, r *model.Run, s suspect, beating bool) string {
	grace, old := doubtGrace, now.Sub(sentAt(r)) > m.cfg.LostAfter
	if m.trusts(r) {
		grace, old = callbackGrace, true
	}
	switch {
	case !s.idle.IsZero() && old && now.Sub(s.idle) >= grace:
		return "lost_idle"
	case !s.silent.IsZero() && !beating && now.Sub(sentAt(r)) > m.cfg.LostAfter && now.Sub(s.silent) >= callbackGrace:
		return "lost_silent"
	case !s.gone.IsZero() && !beating && now.Sub(s.gone) >= callbackGrace:
		return "lost_away"
	}
	return ""
}
