package store

import (
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// What follows says in SQL what model.Run says in Go with Class and Outcome; a test
// holds them together.

const (
	isDiscarded = `(handle_code = 407 AND COALESCE(run_reason, '') = 'discarded')`
	isMissed    = `(COALESCE(run_state, 0) = 6 AND handle_code = 0 OR ` + isDiscarded + `)`
	isFailed    = `(handle_code NOT IN (0, 200) AND NOT ` + isDiscarded + ` OR handle_code = 0 AND trigger_code NOT IN (0, 200) AND COALESCE(run_state, 0) <> 6)`
	isOpen      = `(handle_code = 0 AND trigger_code IN (0, 200) AND COALESCE(run_state, 0) <> 6)`

	// onePerFire leaves the first success of a fire, and without one its last attempt.
	onePerFire = `CASE WHEN l.handle_code = 200
		THEN l.first_run IS NULL OR NOT EXISTS (SELECT 1 FROM xxl_job_log x WHERE (x.id = l.first_run OR x.first_run = l.first_run) AND x.id < l.id AND x.handle_code = 200)
		ELSE NOT EXISTS (SELECT 1 FROM xxl_job_log x WHERE x.first_run = COALESCE(l.first_run, l.id) AND (x.id > l.id OR x.handle_code = 200))
			AND NOT EXISTS (SELECT 1 FROM xxl_job_log x WHERE x.id = l.first_run AND x.handle_code = 200) END`
)

// statusWhere selects runs of a class.
func statusWhere(status model.RunStatus) string {
	switch status {
	case model.RunsSucceeded:
		return " AND handle_code = 200"
	case model.RunsFailed:
		return " AND " + isFailed
	case model.RunsOpen:
		return " AND " + isOpen
	case model.RunsMissed:
		return " AND " + isMissed
	}
	return ""
}

// reasonWhere selects runs whose outcome is the reason.
func reasonWhere(reason string) (string, []any) {
	const is, code = `COALESCE(run_reason, '')`, `handle_code`
	info, _ := model.ReasonOf(reason)
	of, other := isFailed, model.ReasonError
	if info.Class == model.ClassNotSent {
		of, other = isMissed, model.ReasonMisfire
	}
	var all []any // the others of its class
	for _, r := range model.Reasons() {
		if r.Class == info.Class && r.Code != other {
			all = append(all, r.Code)
		}
	}
	where := " AND " + of
	switch reason {
	case model.ReasonKilled: // also when nobody knows whether its executor took the order
		return where + " AND " + is + " IN (?, ?)", []any{reason, model.ReasonKillAsked}
	case model.ReasonCovered, model.ReasonLost: // more than what the executor says
		return where + " AND " + is + " = ?", []any{reason}
	case model.ReasonTimeout:
		return where + " AND (" + code + " = 502 AND " + is + " NOT IN (?, ?, ?, ?) OR " + code + " <> 502 AND " + is + " = ?)",
			[]any{model.ReasonKilled, model.ReasonKillAsked, model.ReasonCovered, model.ReasonLost, reason}
	case other:
		return where + " AND " + code + " <> 502 AND " + is + " NOT IN (" + marks(len(all)+1) + ")", append(all, model.ReasonKillAsked)
	}
	return where + " AND " + code + " <> 502 AND " + is + " = ?", []any{reason}
}

// periodWhere selects by trigger time, of fires by that of the first attempt.
func (s *Store) periodWhere(f model.RunFilter) (string, []any) {
	var where strings.Builder
	var args []any
	limit := func(compare string, at time.Time) {
		if !f.Fires {
			where.WriteString(" AND l.trigger_time " + compare + " ?")
			args = append(args, s.dt(at))
			return
		}
		// Nearly all are first attempts: the others are looked up for retries only.
		where.WriteString(" AND (l.first_run IS NULL AND l.trigger_time " + compare + ` ? OR l.first_run IS NOT NULL AND
			COALESCE((SELECT f.trigger_time FROM xxl_job_log f WHERE f.id = l.first_run), l.trigger_time) ` + compare + " ?)")
		args = append(args, s.dt(at), s.dt(at))
	}
	if !f.From.IsZero() {
		limit(">=", f.From)
		if f.Fires {
			// So that an index helps. No attempt is before the first, but for clocks that
			// differ or are turned back.
			where.WriteString(" AND l.trigger_time >= ?")
			args = append(args, s.dt(f.From.Add(-2*time.Hour)))
		}
	}
	if !f.To.IsZero() {
		limit("<", f.To)
	}
	return where.String(), args
}
