package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// encodeReport gives what the column holds; nil for executors that report nothing.
func encodeReport(r *model.Report) (any, error) {
	if r == nil {
		return nil, nil
	}
	raw, err := json.Marshal(r)
	if err != nil || len(raw) > textBytes {
		return nil, err
	}
	return string(raw), nil
}

// decodeReport reads the column; what is none of ours is no report.
func decodeReport(text string) *model.Report {
	if text == "" {
		return nil
	}
	var r model.Report
	if json.Unmarshal([]byte(text), &r) != nil {
		return nil
	}
	return &r
}

// SetDrain says that an address of an executor gets no new runs, or that it gets them
// again. It reports whether that is news.
func (s *Store) SetDrain(ctx context.Context, d model.Drain, on bool) (changed bool, err error) {
	if !on {
		return matched(s.w.ExecContext(ctx, `DELETE FROM carillon_drain WHERE group_id = ? AND address = ?`, d.GroupID, d.Address))
	}
	return matched(s.w.ExecContext(ctx, s.d.insertIgnore+`carillon_drain (group_id, address, since_at, by_name) VALUES (?, ?, ?, ?)`,
		d.GroupID, d.Address, d.SinceMS, cut(d.By, 100)))
}

// Drains lists the addresses that get no new runs.
func (s *Store) Drains(ctx context.Context) ([]model.Drain, error) {
	var d model.Drain
	return collect(ctx, s.r, into(&d, []any{&d.GroupID, &d.Address, &d.SinceMS, &d.By}),
		`SELECT group_id, address, since_at, by_name FROM carillon_drain ORDER BY group_id, address`)
}

// NoteCalls writes down what came of the last calls to addresses, one for each.
func (s *Store) NoteCalls(ctx context.Context, list []model.LastCall) error {
	list = slices.Clone(list)
	// In one order: nodes write the same rows.
	slices.SortFunc(list, func(a, b model.LastCall) int { return strings.Compare(a.Address, b.Address) })
	return s.inTx(ctx, func(tx *sql.Tx) error {
		return chunks(list, 100, func(part []model.LastCall) error {
			var args []any
			for _, c := range part {
				args = append(args, cut(c.Address, 255), c.AtMS, cut(c.Asked, 20), cut(c.Reason, 32), c.Code, cut(strings.ToValidUTF8(c.Text, "?"), 1000), c.TookMS)
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO carillon_call (address, called_at, asked, reason, answer_code, answer_text, took_ms) VALUES `+
				rowsOf(7, len(part))+s.d.upsert("address", "called_at", "asked", "reason", "answer_code", "answer_text", "took_ms"), args...)
			return err
		})
	})
}

// LastCalls gives what came of the last calls, by address.
func (s *Store) LastCalls(ctx context.Context) (map[string]model.LastCall, error) {
	var c model.LastCall
	list, err := collect(ctx, s.r, into(&c, []any{&c.Address, &c.AtMS, &c.Asked, &c.Reason, &c.Code, &c.Text, &c.TookMS}),
		`SELECT address, called_at, asked, reason, answer_code, answer_text, took_ms FROM carillon_call`)
	out := make(map[string]model.LastCall, len(list))
	for _, c := range list {
		out[c.Address] = c
	}
	return out, err
}

// AddressLoads counts the runs that addresses have got and not ended. Open runs are few,
// whatever the history.
func (s *Store) AddressLoads(ctx context.Context) ([]model.AddressLoad, error) {
	var l model.AddressLoad
	return collect(ctx, s.r, into(&l, []any{&l.GroupID, &l.Address, &l.Open}), `SELECT job_group, executor_address, COUNT(*) FROM xxl_job_log
		WHERE run_state IN (?, ?, ?) AND executor_address > '' GROUP BY job_group, executor_address`,
		model.PhaseSending, model.PhaseUnknown, model.PhaseAccepted)
}

// ForgetAddresses removes what is known of addresses that were not called since beforeMS
// (epoch ms), and drains set before it of addresses that no executor has any more.
func (s *Store) ForgetAddresses(ctx context.Context, beforeMS int64) error {
	if _, err := s.w.ExecContext(ctx, `DELETE FROM carillon_call WHERE called_at < ?`, beforeMS); err != nil {
		return err
	}
	old, err := collect(ctx, s.w, func(r row) (d model.Drain, err error) {
		err = r.Scan(&d.GroupID, &d.Address)
		return d, err
	}, `SELECT group_id, address FROM carillon_drain WHERE since_at < ?
		AND NOT EXISTS (SELECT 1 FROM xxl_job_registry r WHERE r.registry_value = carillon_drain.address)`, beforeMS)
	if err != nil || len(old) == 0 {
		return err
	}
	var ids []int
	for _, d := range old {
		ids = append(ids, d.GroupID)
	}
	groups, err := s.groupsByID(ctx, s.w, ids)
	if err != nil {
		return err
	}
	for _, d := range old {
		if g := groups[d.GroupID]; slices.Contains(g.Addresses(), d.Address) {
			continue
		}
		if _, err := s.w.ExecContext(ctx, `DELETE FROM carillon_drain WHERE group_id = ? AND address = ? AND since_at < ?`, d.GroupID, d.Address, beforeMS); err != nil {
			return err
		}
	}
	return nil
}
