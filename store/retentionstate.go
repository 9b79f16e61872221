package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// keepTarget reads a column of days: NULL is the default, 0 for ever.
type keepTarget struct{ dst *model.KeepDays }

// Scan implements sql.Scanner.
func (t keepTarget) Scan(v any) error {
	var n sql.Null[int64]
	if err := n.Scan(v); err != nil {
		return err
	}
	if *t.dst = model.KeepDefault; n.Valid {
		*t.dst = model.KeepDaysOf(int(n.V))
	}
	return nil
}

// keepValue writes what keepTarget reads.
func keepValue(k model.KeepDays) any {
	switch k {
	case model.KeepDefault:
		return nil
	case model.KeepForever:
		return 0
	}
	return int(k)
}

// RetentionState reads what was set and how far the removing is.
func (s *Store) RetentionState(ctx context.Context) (model.RetentionState, error) {
	var x model.RetentionState
	list, err := collect(ctx, s.r, into(&x, []any{
		keepTarget{&x.Own.Succeeded}, keepTarget{&x.Own.Failed}, nz(&x.ChangedMS), nz(&x.ChangedBy), nz(&x.AskedMS), nz(&x.AskedBy),
		nz(&x.BeganMS), nz(&x.SeenMS), nz(&x.FinishedMS), nz(&x.BusyMS), nz(&x.Removed), nz(&x.OriginMS), nz(&x.ReachedMS), nz(&x.TargetMS), nz(&x.Failed), nz(&x.RemovedUntilMS),
	}), `SELECT keep_days, keep_failed_days, changed_at, changed_by, asked_at, asked_by, began_at, seen_at, finished_at, busy_ms, removed, origin, reached, target, failed, removed_until
		FROM carillon_retention WHERE id = 1`)
	if err != nil || len(list) == 0 {
		return model.RetentionState{}, err
	}
	return list[0], nil
}

// SaveKeep sets for how long runs are kept. What is the default is as the center was started.
func (s *Store) SaveKeep(ctx context.Context, k model.Keep, by string, now time.Time) error {
	_, err := s.w.ExecContext(ctx, `UPDATE carillon_retention SET keep_days = ?, keep_failed_days = ?, changed_at = ?, changed_by = ? WHERE id = 1`,
		keepValue(k.Succeeded), keepValue(k.Failed), now.UnixMilli(), cut(by, 100))
	return err
}

// AskRetention asks the node that removes runs to do so now.
func (s *Store) AskRetention(ctx context.Context, by string, now time.Time) error {
	_, err := s.w.ExecContext(ctx, `UPDATE carillon_retention SET asked_at = ?, asked_by = ? WHERE id = 1`, now.UnixMilli(), cut(by, 100))
	return err
}

// NoteRetention writes down how far a pass is: of the state what the node that removes
// runs knows, from BeganMS to Failed.
func (s *Store) NoteRetention(ctx context.Context, x model.RetentionState) error {
	_, err := s.w.ExecContext(ctx, `UPDATE carillon_retention SET began_at = ?, seen_at = ?, finished_at = ?, busy_ms = ?, removed = ?, origin = ?, reached = ?, target = ?, failed = ? WHERE id = 1`,
		x.BeganMS, x.SeenMS, null(x.FinishedMS), x.BusyMS, x.Removed, null(x.OriginMS), null(x.ReachedMS), null(x.TargetMS), null(cut(x.Failed, 1000)))
	return err
}

// KeepOfJobs lists the jobs that say themselves for how long their runs are kept.
func (s *Store) KeepOfJobs(ctx context.Context) (map[int]model.Keep, error) {
	out := map[int]model.Keep{}
	type own struct {
		job  int
		keep model.Keep
	}
	var o own
	list, err := collect(ctx, s.r, into(&o, []any{&o.job, keepTarget{&o.keep.Succeeded}, keepTarget{&o.keep.Failed}}),
		`SELECT id, carillon_keep_days, carillon_keep_failed_days FROM xxl_job_info WHERE carillon_keep_days IS NOT NULL
		UNION SELECT id, carillon_keep_days, carillon_keep_failed_days FROM xxl_job_info WHERE carillon_keep_failed_days IS NOT NULL`)
	for _, o := range list {
		for _, k := range []*model.KeepDays{&o.keep.Succeeded, &o.keep.Failed} {
			if !k.Valid() { // of others: nobody can have meant that
				*k = model.KeepDefault
			}
		}
		out[o.job] = o.keep
	}
	return out, err
}

// addRemoved adds to what was removed on the day of now.
func (s *Store) addRemoved(ctx context.Context, q querier, now time.Time, d model.RetentionDay) error {
	day := model.Day(now.In(s.loc), 0)
	add := []any{d.Succeeded, d.Failed, d.Missed, d.ByHand, d.Incidents, d.AuditLines, d.BusyMS, d.Passes}
	for range 2 {
		known, err := matched(q.ExecContext(ctx, `UPDATE carillon_retention_day SET succeeded = succeeded + ?, failed = failed + ?, missed = missed + ?, by_hand = by_hand + ?,
			incidents = incidents + ?, audit_lines = audit_lines + ?, busy_ms = busy_ms + ?, passes = passes + ? WHERE day = ?`, append(add[:len(add):len(add)], day)...))
		if err != nil || known {
			return err
		}
		if _, err := q.ExecContext(ctx, s.d.insertIgnore+`carillon_retention_day (day, succeeded, failed, missed, by_hand, incidents, audit_lines, busy_ms, passes)
			VALUES (?, 0, 0, 0, 0, 0, 0, 0, 0)`, day); err != nil {
			return err
		}
	}
	return nil
}

// AddRemoved adds what was done beside the runs to the day of now.
func (s *Store) AddRemoved(ctx context.Context, now time.Time, d model.RetentionDay) error {
	return s.addRemoved(ctx, s.w, now, d)
}

// RetentionDays lists what was removed since the day of an instant, the newest day first.
func (s *Store) RetentionDays(ctx context.Context, since time.Time) ([]model.RetentionDay, error) {
	var d model.RetentionDay
	return collect(ctx, s.r, into(&d, []any{&d.Day, &d.Succeeded, &d.Failed, &d.Missed, &d.ByHand, &d.Incidents, &d.AuditLines, &d.BusyMS, &d.Passes}),
		`SELECT day, succeeded, failed, missed, by_hand, incidents, audit_lines, busy_ms, passes FROM carillon_retention_day WHERE day >= ? ORDER BY day DESC`,
		model.Day(since.In(s.loc), 0))
}

// ForgetRetentionDays removes what was written down about days before that of an instant.
func (s *Store) ForgetRetentionDays(ctx context.Context, before time.Time) error {
	_, err := s.w.ExecContext(ctx, `DELETE FROM carillon_retention_day WHERE day < ?`, model.Day(before.In(s.loc), 0))
	return err
}
