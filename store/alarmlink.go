package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Secret gives the secret of this name that all nodes share. The first who asks with one of
// their own writes it; without one it is "" until then.
func (s *Store) Secret(ctx context.Context, name, fresh string) (string, error) {
	value := ""
	read := func() error {
		return s.r.QueryRowContext(ctx, `SELECT value FROM carillon_secret WHERE name = ?`, name).Scan(&value)
	}
	err := read()
	if !errors.Is(err, sql.ErrNoRows) {
		return value, err
	}
	if fresh == "" {
		return "", nil
	}
	if _, err := s.w.ExecContext(ctx, s.d.insertIgnore+`carillon_secret (name, value) VALUES (?, ?)`, name, fresh); err != nil {
		return "", err
	}
	return value, read()
}

// LinkUsed reports whether a link was used.
func (s *Store) LinkUsed(ctx context.Context, link string) (bool, error) {
	list, err := collect(ctx, s.r, one[int], `SELECT 1 FROM carillon_used_link WHERE link = ?`, link)
	return len(list) > 0, err
}

// usedLinksKept is for how long used links are remembered: longer than they hold.
const usedLinksKept = 30 * 24 * time.Hour

// TouchIncidentByLink is TouchIncident for who has a link: each link does it once. One that was
// used is a model.CodeConflict.
func (s *Store) TouchIncidentByLink(ctx context.Context, link string, id int64, note model.IncidentNote, change func(*model.Incident)) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		first, err := matched(tx.ExecContext(ctx, s.d.insertIgnore+`carillon_used_link (link, used_at) VALUES (?, ?)`, link, note.AtMS))
		if err != nil {
			return err
		}
		if !first {
			return model.Errf(model.CodeConflict, "error.link_used")
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_used_link WHERE used_at < ?`, note.AtMS-usedLinksKept.Milliseconds()); err != nil {
			return err
		}
		return s.touchIncident(ctx, tx, id, note, change)
	})
}
