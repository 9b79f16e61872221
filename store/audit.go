package store

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// InsertAudit writes lines of the audit, in order. Texts are shortened to what the columns hold.
func (s *Store) InsertAudit(ctx context.Context, list []model.AuditEntry) error {
	return chunks(list, 200, func(part []model.AuditEntry) error {
		var args []any
		for _, e := range part {
			var changes any
			if len(e.Changes) > 0 {
				raw, err := json.Marshal(e.Changes)
				if err != nil {
					return err
				}
				changes = string(raw)
			}
			args = append(args, e.At.UnixMilli(), e.UserID, cut(e.User, 100), cut(e.From, 64), e.Action, e.Kind, e.ObjectID, cut(e.Object, 255), e.Outcome, changes)
		}
		_, err := s.w.ExecContext(ctx, `INSERT INTO carillon_audit (at, user_id, user_name, came_from, action, kind, object_id, object_name, outcome, changes)
			VALUES `+rowsOf(10, len(part)), args...)
		return err
	})
}

// Audit lists lines of the audit, newest first.
func (s *Store) Audit(ctx context.Context, f model.AuditFilter) ([]model.AuditEntry, error) {
	where, args := " WHERE 1 = 1", []any(nil)
	add := func(cond string, v ...any) { where, args = where+" AND "+cond, append(args, v...) }
	if f.Before > 0 {
		add("id < ?", f.Before)
	}
	if f.User != "" {
		add("user_name LIKE ? ESCAPE '!'", "%"+likeEscaper.Replace(f.User)+"%")
	}
	if f.Action != "" {
		add("action = ?", f.Action)
	}
	if f.Outcome != "" {
		add("outcome = ?", f.Outcome)
	}
	if f.Kind != "" {
		add("kind = ?", f.Kind)
	}
	if f.ObjectID != 0 {
		add("object_id = ?", f.ObjectID)
	}
	if f.Object != "" {
		id, _ := strconv.ParseInt(strings.TrimPrefix(f.Object, "#"), 10, 64) // 0 is none
		if id == 0 {
			id = -1
		}
		add("(object_name LIKE ? ESCAPE '!' OR object_id = ?)", "%"+likeEscaper.Replace(f.Object)+"%", id)
	}
	if !f.From.IsZero() {
		add("at >= ?", f.From.UnixMilli())
	}
	if !f.To.IsZero() {
		add("at < ?", f.To.UnixMilli())
	}
	return collect(ctx, s.r, s.scanAudit, `SELECT id, at, user_id, user_name, came_from, action, kind, object_id, object_name, outcome, changes
		FROM carillon_audit`+where+` ORDER BY id DESC LIMIT ?`, append(args, f.Limit)...)
}

func (s *Store) scanAudit(r row) (e model.AuditEntry, err error) {
	var at int64
	var changes string
	err = r.Scan(&e.ID, &at, &e.UserID, &e.User, &e.From, &e.Action, &e.Kind, &e.ObjectID, &e.Object, &e.Outcome, nz(&changes))
	e.At = time.UnixMilli(at).In(s.Location())
	if changes != "" {
		_ = json.Unmarshal([]byte(changes), &e.Changes) // a line that somebody spoiled is shown without
	}
	return e, err
}

// DeleteAuditBefore removes lines that are older than the cutoff, at most limit.
func (s *Store) DeleteAuditBefore(ctx context.Context, cutoff time.Time, limit int) (int, error) {
	ids, err := collect(ctx, s.r, one[int64], `SELECT id FROM carillon_audit WHERE at < ? ORDER BY at LIMIT ?`, cutoff.UnixMilli(), limit)
	if err != nil {
		return 0, err
	}
	err = chunks(ids, 500, func(part []int64) error {
		_, err := s.w.ExecContext(ctx, `DELETE FROM carillon_audit WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		return err
	})
	return len(ids), err
}
