package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const groupColumns = `id, app_name, title, address_type, address_list, update_time`

func (s *Store) queryGroups(ctx context.Context, q querier, query string, args ...any) ([]model.Group, error) {
	return collect(ctx, q, func(r row) (g model.Group, err error) {
		err = r.Scan(&g.ID, &g.AppName, &g.Title, &g.AddressType, nz(&g.AddressList), s.scanTime(&g.UpdateTime))
		return g, err
	}, query, args...)
}

// readGroups reads executors with their addresses that take no new runs, in one statement:
// it is on the way of every run.
func (s *Store) readGroups(ctx context.Context, q querier, where, order string, args ...any) ([]model.Group, error) {
	var out []model.Group
	_, err := collect(ctx, q, func(r row) (none struct{}, err error) {
		var g model.Group
		var draining string
		if err := r.Scan(&g.ID, &g.AppName, &g.Title, &g.AddressType, nz(&g.AddressList), s.scanTime(&g.UpdateTime), nz(&draining)); err != nil {
			return none, err
		}
		if n := len(out); n == 0 || out[n-1].ID != g.ID {
			out = append(out, g)
		}
		if last := &out[len(out)-1]; draining != "" {
			last.Draining = append(last.Draining, draining)
		}
		return none, nil
	}, `SELECT g.id, g.app_name, g.title, g.address_type, g.address_list, g.update_time, d.address
		FROM xxl_job_group g LEFT JOIN carillon_drain d ON d.group_id = g.id WHERE `+where+order, args...)
	return out, err
}

// Groups lists executors by app name; groups limits them when it is not nil.
func (s *Store) Groups(ctx context.Context, groups []int) ([]model.Group, error) {
	where, args := inGroups("g.id", groups)
	return s.readGroups(ctx, s.r, `1 = 1`+where, ` ORDER BY g.app_name, g.title, g.id, d.address`, args...)
}

// GroupsByID reads many executors at once; missing ones are left out.
func (s *Store) GroupsByID(ctx context.Context, ids []int) (map[int]model.Group, error) {
	return s.groupsByID(ctx, s.h, ids)
}

func (s *Store) groupsByID(ctx context.Context, q querier, ids []int) (map[int]model.Group, error) {
	out := make(map[int]model.Group, len(ids))
	err := chunks(compact(ids), 500, func(part []int) error {
		list, err := s.readGroups(ctx, q, `g.id IN (`+marks(len(part))+`)`, ` ORDER BY g.id`, anys(part)...)
		for _, g := range list {
			out[g.ID] = g
		}
		return err
	})
	return out, err
}

func (s *Store) groupsOf(ctx context.Context, q querier, jobs []model.Job) (map[int]model.Group, error) {
	var ids []int
	for i := range jobs {
		ids = append(ids, jobs[i].GroupID)
	}
	return s.groupsByID(ctx, q, ids)
}

// Group reads one executor; a missing one is model.CodeNotFound.
func (s *Store) Group(ctx context.Context, id int) (model.Group, error) {
	m, err := s.groupsByID(ctx, s.r, []int{id})
	if err != nil {
		return model.Group{}, err
	}
	if g, ok := m[id]; ok {
		return g, nil
	}
	return model.Group{}, model.Errf(model.CodeNotFound, "error.executor_not_found", "ID", id)
}

// GroupByApp reads an executor by its app name.
func (s *Store) GroupByApp(ctx context.Context, appName string) (model.Group, error) {
	list, err := s.queryGroups(ctx, s.r, `SELECT `+groupColumns+` FROM xxl_job_group WHERE app_name = ? ORDER BY id LIMIT 1`, appName)
	if err != nil {
		return model.Group{}, err
	}
	if len(list) == 0 {
		return model.Group{}, model.Errf(model.CodeNotFound, "error.executor_not_found", "ID", appName)
	}
	return list[0], nil
}

// InsertGroup writes a new executor. An automatic one takes the addresses that
// beat since aliveSince at once.
func (s *Store) InsertGroup(ctx context.Context, g *model.Group, aliveSince time.Time) (int, error) {
	var id int64
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		if err := s.fillAddresses(ctx, tx, g, aliveSince); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO xxl_job_group (app_name, title, address_type, address_list, update_time) VALUES (?, ?, ?, ?, ?)`,
			g.AppName, g.Title, g.AddressType, null(g.AddressList), s.dt(g.UpdateTime))
		if err != nil {
			return err
		}
		id, err = res.LastInsertId()
		return err
	})
	return int(id), err
}

// UpdateGroup writes title, type and addresses of an executor.
func (s *Store) UpdateGroup(ctx context.Context, g *model.Group, aliveSince time.Time) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if err := s.fillAddresses(ctx, tx, g, aliveSince); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE xxl_job_group SET title = ?, address_type = ?, address_list = ?, update_time = ? WHERE id = ?`,
			g.Title, g.AddressType, null(g.AddressList), s.dt(g.UpdateTime), g.ID)
		return changedOne(res, err, "error.executor_not_found")
	})
}

func (s *Store) fillAddresses(ctx context.Context, tx *sql.Tx, g *model.Group, aliveSince time.Time) error {
	if g.AddressType != model.AddressAuto {
		return nil
	}
	live, err := s.liveAddresses(ctx, tx, g.AppName, aliveSince)
	g.AddressList = strings.Join(live, ",")
	return err
}

// DeleteGroup removes an executor and its registrations; one that still has
// jobs and the last one are refused.
func (s *Store) DeleteGroup(ctx context.Context, id int) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		var jobs int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_info WHERE job_group = ?`, id).Scan(&jobs); err != nil {
			return err
		}
		if jobs > 0 {
			return model.Errf(model.CodeInvalid, "error.has_jobs", "Count", jobs)
		}
		// Locked: of two executors that are deleted at the same moment one stays.
		all, err := collect(ctx, tx, one[int], `SELECT id FROM xxl_job_group ORDER BY id LIMIT 2`+s.d.forUpdate)
		if err != nil {
			return err
		}
		if len(all) == 1 && all[0] == id {
			return model.Errf(model.CodeInvalid, "error.last_executor")
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_drain WHERE group_id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM xxl_job_registry WHERE registry_key = (SELECT app_name FROM xxl_job_group WHERE id = ?)`, id); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `DELETE FROM xxl_job_group WHERE id = ?`, id)
		return changedOne(res, err, "error.executor_not_found")
	})
}

// JobsPerGroup counts the jobs of each executor.
func (s *Store) JobsPerGroup(ctx context.Context) (map[int]int, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT job_group, COUNT(*) FROM xxl_job_info GROUP BY job_group`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int]int{}
	for rows.Next() {
		var id, n int
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		out[id] = n
	}
	return out, rows.Err()
}

const executorGroup = "EXECUTOR"

// Register stores a beat of an executor's address. A new address joins its
// executor's list at once.
func (s *Store) Register(ctx context.Context, reg model.Registration, aliveSince time.Time) error {
	report, err := encodeReport(reg.Report)
	if err != nil {
		return err
	}
	return inTxOn(ctx, s.e, tries, func(tx *sql.Tx) error {
		// Update first: an upsert would burn an id with every beat.
		known, err := matched(tx.ExecContext(ctx, `UPDATE xxl_job_registry SET update_time = ?, carillon_report = ?
			WHERE registry_group = ? AND registry_key = ? AND registry_value = ?`, s.dt(reg.Beat), report, reg.Group, reg.Key, reg.Address))
		if err != nil {
			return err
		}
		if !known {
			_, err := tx.ExecContext(ctx, `INSERT INTO xxl_job_registry (registry_group, registry_key, registry_value, update_time, carillon_report) VALUES (?, ?, ?, ?, ?)`,
				reg.Group, reg.Key, reg.Address, s.dt(reg.Beat), report)
			if err != nil && !isDuplicate(err) {
				return err
			}
		}
		return s.refreshGroup(ctx, tx, reg.Key, aliveSince, reg.Beat)
	})
}

// Deregister removes an address; it leaves its executor's list at once.
func (s *Store) Deregister(ctx context.Context, reg model.Registration, aliveSince time.Time) error {
	return inTxOn(ctx, s.e, tries, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM xxl_job_registry WHERE registry_group = ? AND registry_key = ? AND registry_value = ?`,
			reg.Group, reg.Key, reg.Address); err != nil {
			return err
		}
		return s.refreshGroup(ctx, tx, reg.Key, aliveSince, reg.Beat)
	})
}

// refreshGroup locks the executors first: of two addresses that register at the
// same moment the later one sees the other. It rewrites the address list of the automatic executors of an app
// name, only that column and only when it changed.
func (s *Store) refreshGroup(ctx context.Context, tx *sql.Tx, appName string, aliveSince, now time.Time) error {
	groups, err := s.queryGroups(ctx, tx, `SELECT `+groupColumns+` FROM xxl_job_group WHERE app_name = ? AND address_type = 0`+s.d.forUpdate, appName)
	if err != nil || len(groups) == 0 {
		return err
	}
	live, err := s.liveAddresses(ctx, tx, appName, aliveSince)
	if err != nil {
		return err
	}
	list := strings.Join(live, ",")
	for _, g := range groups {
		if g.AddressList == list {
			continue
		}
		if _, err := tx.ExecContext(ctx, `UPDATE xxl_job_group SET address_list = ?, update_time = ? WHERE id = ? AND address_type = 0`,
			null(list), s.dt(now), g.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) liveAddresses(ctx context.Context, q querier, appName string, aliveSince time.Time) ([]string, error) {
	regs, err := s.queryRegistrations(ctx, q, ` AND registry_key = ? AND update_time > ?`, appName, s.since(aliveSince))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range regs {
		out = append(out, r.Address)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Registrations lists every address that ever beat and was not removed.
func (s *Store) Registrations(ctx context.Context) ([]model.Registration, error) {
	return s.queryRegistrations(ctx, s.r, "")
}

func (s *Store) queryRegistrations(ctx context.Context, q querier, where string, args ...any) ([]model.Registration, error) {
	return collect(ctx, q, func(x row) (r model.Registration, err error) {
		var report string
		err = x.Scan(&r.Group, &r.Key, &r.Address, s.scanTime(&r.Beat), nz(&report))
		r.Report = decodeReport(report)
		return r, err
	}, `SELECT registry_group, registry_key, registry_value, update_time, carillon_report FROM xxl_job_registry
		WHERE registry_group = '`+executorGroup+`'`+where+` ORDER BY registry_key, registry_value`, args...)
}

// SweepRegistry removes registrations without a beat since aliveSince and
// rewrites the address lists that change by it. It returns how many went.
func (s *Store) SweepRegistry(ctx context.Context, aliveSince, now time.Time) (int, error) {
	removed := 0
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		dead, err := s.queryRegistrations(ctx, tx, ` AND update_time <= ?`, s.since(aliveSince))
		if err != nil {
			return err
		}
		removed = len(dead)
		if removed > 0 {
			if _, err := tx.ExecContext(ctx, `DELETE FROM xxl_job_registry WHERE registry_group = '`+executorGroup+`' AND update_time <= ?`, s.since(aliveSince)); err != nil {
				return err
			}
		}
		apps, err := s.queryGroups(ctx, tx, `SELECT `+groupColumns+` FROM xxl_job_group WHERE address_type = 0`)
		if err != nil {
			return err
		}
		for _, g := range apps {
			if err := s.refreshGroup(ctx, tx, g.AppName, aliveSince, now); err != nil {
				return err
			}
		}
		return nil
	})
	return removed, err
}
