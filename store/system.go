package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// DatabaseInfo asks the server for its version and says how long it took, and how many
// connections there are.
func (s *Store) DatabaseInfo(ctx context.Context) (model.Database, error) {
	info := model.Database{Engine: s.d.name}
	version := `SELECT VERSION()`
	if s.d.name == "sqlite" {
		version = `SELECT sqlite_version()`
	}
	// A connection first: waiting for one says nothing of the server.
	conn, err := s.r.Conn(ctx)
	if err != nil {
		return info, err
	}
	began := time.Now()
	err = conn.QueryRowContext(ctx, version).Scan(&info.Version)
	info.Latency = time.Since(began)
	if cerr := conn.Close(); err == nil {
		err = cerr
	}
	seen := map[*sql.DB]bool{nil: true} // some handles are one
	for _, db := range []*sql.DB{s.w, s.h, s.e, s.r, s.beats} {
		if seen[db] {
			continue
		}
		seen[db] = true
		st := db.Stats()
		info.InUse += st.InUse
		info.Open += st.OpenConnections
		info.Most += st.MaxOpenConnections
		info.Waits += st.WaitCount
	}
	return info, err
}
