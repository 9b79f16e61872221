package store

import (
	"strings"

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
	onePerFire = ` AND run_state IS NOT NULL AND CASE WHEN l.handle_code = 200
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
	ended := []any{model.ReasonKilled, model.ReasonCovered, model.ReasonLost}
	info, known := model.ReasonOf(reason)
	switch {
	case reason == model.ReasonTimeout:
		return " AND handle_code = 502 AND COALESCE(run_reason, '') NOT IN (?, ?, ?)", ended
	case reason == model.ReasonError:
		var all []any
		for _, r := range model.Reasons() {
			all = append(all, r.Code)
		}
		return " AND " + isFailed + " AND handle_code <> 502 AND COALESCE(run_reason, '') NOT IN (" + marks(len(all)) + ")", all
	case known && info.Class == model.ClassNotSent:
		return " AND " + isMissed + " AND run_reason = ?", []any{reason}
	}
	if reason == model.ReasonKilled { // also those of which nobody knows whether their executor took the order
		return " AND " + isFailed + " AND run_reason IN (?, ?)", []any{reason, model.ReasonKillAsked}
	}
	return " AND " + isFailed + " AND run_reason = ?", []any{reason}
}

// periodWhere selects by trigger time, of fires by that of the first attempt.
func (s *Store) periodWhere(f model.RunFilter) (string, []any) {
	var where strings.Builder
	var args []any
	of := "trigger_time"
	if f.Fires {
		of = "COALESCE((SELECT f.trigger_time FROM xxl_job_log f WHERE f.id = l.first_run), l.trigger_time)"
	}
	if !f.From.IsZero() {
		where.WriteString(" AND l.trigger_time >= ?") // no attempt is before the first
		args = append(args, s.dt(f.From))
		if f.Fires {
			where.WriteString(" AND " + of + " >= ?")
			args = append(args, s.dt(f.From))
		}
	}
	if !f.To.IsZero() {
		where.WriteString(" AND " + of + " < ?")
		args = append(args, s.dt(f.To))
	}
	return where.String(), args
}
