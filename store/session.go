package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Sessions keeps console sessions for scs (its CtxStore). The stores that come
// with scs know no context and clean up with a goroutine of their own; here the
// retention loop calls DeleteExpired.
type Sessions struct{ s *Store }

// Sessions gives the session table.
func (s *Store) Sessions() Sessions { return Sessions{s} }

// FindCtx implements scs.CtxStore.
func (x Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var data []byte
	err := x.s.r.QueryRowContext(ctx, `SELECT data FROM carillon_session WHERE token = ? AND expiry > `+x.s.d.nowMS, token).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx implements scs.CtxStore.
func (x Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return x.CommitFor(ctx, token, data, expiry, model.Session{})
}

// CommitFor is CommitCtx of a session that says whose it is. One that was ended meanwhile
// stays so.
func (x Sessions) CommitFor(ctx context.Context, token string, data []byte, expiry time.Time, of model.Session) error {
	args := []any{data, expiry.UnixMilli(), null(of.UserID), millis(of.Began), millis(of.Seen), null(cut(of.From, 64)), null(cut(of.Agent, 255)), token}
	known, err := matched(x.s.w.ExecContext(ctx, `UPDATE carillon_session SET data = ?, expiry = ?, user_id = ?, began_at = ?, seen_at = ?, came_from = ?, agent = ?
		WHERE token = ? AND expiry > 0`, args...))
	if err != nil || known {
		return err
	}
	_, err = x.s.w.ExecContext(ctx, x.s.d.insertIgnore+`carillon_session (data, expiry, user_id, began_at, seen_at, came_from, agent, token)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, args...)
	return err
}

func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// DeleteCtx implements scs.CtxStore.
func (x Sessions) DeleteCtx(ctx context.Context, token string) error {
	_, err := x.s.w.ExecContext(ctx, `DELETE FROM carillon_session WHERE token = ?`, token)
	return err
}

// Find implements scs.Store.
func (x Sessions) Find(token string) ([]byte, bool, error) {
	return x.FindCtx(context.Background(), token)
}

// Commit implements scs.Store.
func (x Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return x.CommitCtx(context.Background(), token, data, expiry)
}

// Delete implements scs.Store.
func (x Sessions) Delete(token string) error { return x.DeleteCtx(context.Background(), token) }

// DeleteExpired removes sessions that ended.
func (x Sessions) DeleteExpired(ctx context.Context) error {
	_, err := x.s.w.ExecContext(ctx, `DELETE FROM carillon_session WHERE expiry <= `+x.s.d.nowMS)
	return err
}

// UserSessions lists the logins of a person that have not expired, the one that was
// seen last first; 0 stands for everybody. The table has hashes of the tokens, of which the beginning is
// given as ID.
func (s *Store) UserSessions(ctx context.Context, userID int) ([]model.Session, error) {
	where, args := "user_id IS NOT NULL", []any(nil)
	if userID != 0 {
		where, args = "user_id = ?", []any{userID}
	}
	return collect(ctx, s.r, func(r row) (x model.Session, err error) {
		var began, seen int64
		err = r.Scan(&x.ID, &x.UserID, nz(&began), nz(&seen), nz(&x.From), nz(&x.Agent))
		if x.Began = time.UnixMilli(began).In(s.Location()); began == 0 {
			x.Began = time.Time{}
		}
		x.Seen = time.UnixMilli(seen).In(s.Location())
		return x, err
	}, `SELECT SUBSTR(token, 1, 16), user_id, began_at, seen_at, came_from, agent FROM carillon_session
		WHERE `+where+` AND expiry > `+s.d.nowMS+` ORDER BY seen_at DESC, token LIMIT 500`, args...)
}

// EndSession ends the login of a person with that ID and reports whether there was one. The
// row stays until the next clearing, so that a request in flight does not write it again.
func (s *Store) EndSession(ctx context.Context, userID int, id string) (bool, error) {
	return matched(s.w.ExecContext(ctx, `UPDATE carillon_session SET expiry = 0 WHERE user_id = ? AND SUBSTR(token, 1, 16) = ? AND expiry > 0`, userID, id))
}
