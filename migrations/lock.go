package migrations

import (
	"context"
	"crypto/rand"
	"database/sql"
	"log/slog"
	"time"
)

// lockLease is how long a crashed migrator keeps others out.
const lockLease = 2 * time.Minute

// lock takes the schema lock: a row with an expiry by the database's clock.
// GET_LOCK would be simpler but is unknown to some MySQL-protocol clusters.
func lock(ctx context.Context, db *sql.DB, engine string, log *slog.Logger) (release func(), err error) {
	clock := "CAST(UNIX_TIMESTAMP() AS SIGNED)"
	if engine == SQLite {
		clock = "CAST(unixepoch() AS INTEGER)"
	}
	_, err = db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS carillon_schema_lock (
		id INT NOT NULL PRIMARY KEY, holder VARCHAR(64) NOT NULL, until BIGINT NOT NULL)`)
	if err != nil {
		return nil, err
	}
	holder := rand.Text()
	seconds := int(lockLease / time.Second)
	for first := true; ; first = false {
		// The row may be there already; the conditional update decides.
		_, _ = db.ExecContext(ctx, `INSERT INTO carillon_schema_lock (id, holder, until) VALUES (1, '', 0)`)
		res, err := db.ExecContext(ctx, `UPDATE carillon_schema_lock SET holder = ?, until = `+clock+` + ?
			WHERE id = 1 AND until < `+clock, holder, seconds)
		if err != nil {
			return nil, err
		}
		if n, err := res.RowsAffected(); err == nil && n == 1 {
			break
		}
		if first {
			log.Info("another process migrates the schema, waiting")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { // a change of a large table may last longer than the lease
		defer close(done)
		ticker := time.NewTicker(lockLease / 4)
		defer ticker.Stop()
		for {
			select {
			case <-renewing.Done():
				return
			case <-ticker.C:
				if _, err := db.ExecContext(renewing, `UPDATE carillon_schema_lock SET until = `+clock+` + ? WHERE id = 1 AND holder = ?`, seconds, holder); err != nil && renewing.Err() == nil {
					log.Warn("cannot renew the schema lock", "error", err)
				}
			}
		}
	}()
	return func() {
		stop()
		<-done
		// Released even when the start is being cancelled.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := db.ExecContext(ctx, `UPDATE carillon_schema_lock SET until = 0 WHERE id = 1 AND holder = ?`, holder); err != nil {
			log.Warn("cannot release the schema lock", "error", err)
		}
	}, nil
}
