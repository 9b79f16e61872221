package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
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
	_, err := x.s.w.ExecContext(ctx, `INSERT INTO carillon_session (token, data, expiry) VALUES (?, ?, ?)`+
		x.s.d.upsert("token", "data", "expiry"), token, data, expiry.UnixMilli())
	return err
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
