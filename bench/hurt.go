package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// lostCommit is the commit whose answer is lost, of those of a node.
const lostCommit = 5

// inflict makes one fault happen and mends it.
func (s *site) inflict(ctx context.Context, p plannedFault) (fault, error) {
	f := fault{kind: p.kind, start: time.Now()}
	var err error
	switch p.kind {
	case faultKill, faultPause, faultDBCut, faultRename, faultCommitCut:
		i := int(p.pick) % len(s.nodes)
		f.what, err = s.nodes[i].name, s.hurtNode(ctx, p, i)
	case faultDBRestart:
		f.what = map[bool]string{true: "kill -9", false: "SIGTERM"}[p.hard]
		err = s.maria.Restart(ctx, p.hard, p.lasts)
	case faultRowLock:
		f.job = s.jobs[int(p.pick)%len(s.jobs)]
		f.what, err = fmt.Sprintf("job %d", f.job), s.lockRow(ctx, f.job, p.lasts)
	case faultBlackHole:
		if f.all = p.hard || len(s.proxies) == 1; f.all {
			f.what = "all nodes"
			for _, x := range s.proxies {
				x.silence()
			}
		} else {
			i := int(p.pick) % len(s.nodes)
			f.what = s.nodes[i].name
			s.proxies[i].silence()
		}
	case faultOutage:
		f.what, f.all = "all nodes", true
		err = s.outage(ctx, p.lasts)
	default:
		i := int(p.pick) % len(s.counters)
		f.what, err = fmt.Sprintf("executor %d", i+1), s.hurtExecutor(ctx, p, s.counters[i])
	}
	f.end = time.Now()
	_ = pause(ctx, p.calm)
	return f, err
}

func (s *site) hurtNode(ctx context.Context, p plannedFault, i int) error {
	n := s.nodes[i]
	switch p.kind {
	case faultKill, faultRename:
		n.kill()
		_ = pause(ctx, p.lasts)
		if p.kind == faultRename {
			n.rename()
		}
		return n.start(ctx)
	case faultPause:
		if err := n.signal(syscall.SIGSTOP); err != nil {
			return err
		}
		_ = pause(ctx, p.lasts)
		return n.signal(syscall.SIGCONT)
	case faultCommitCut:
		s.proxies[i].loseCommits(lostCommit)
		s.askFor(ctx, n.url, p.lasts)
		s.proxies[i].loseCommits(0)
		return nil
	default:
		s.proxies[i].set(true)
		_ = pause(ctx, p.lasts)
		s.proxies[i].set(false)
		return nil
	}
}

func (s *site) hurtExecutor(ctx context.Context, p plannedFault, c *counter) error {
	switch p.kind {
	case faultExecKill:
		c.kill()
		_ = pause(ctx, p.lasts)
		return c.start()
	case faultSlow:
		c.behave(answersLate)
	default:
		c.behave(neverCallsBack)
	}
	_ = pause(ctx, p.lasts)
	c.behave(behaves)
	return nil
}

// lockRow holds the row of a job as somebody at a SQL prompt does who has gone for lunch.
func (s *site) lockRow(ctx context.Context, job int, lasts time.Duration) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var id int
	if err := tx.QueryRowContext(ctx, `SELECT id FROM xxl_job_info WHERE id = ? FOR UPDATE`, job).Scan(&id); err != nil {
		return err
	}
	return pause(ctx, lasts)
}
