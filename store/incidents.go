package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Incident reads one; a missing one is model.CodeNotFound.
func (s *Store) Incident(ctx context.Context, id int64) (model.Incident, error) {
	i, err := scanIncident(s.r.QueryRowContext(ctx, `SELECT `+incidentColumns+` FROM carillon_incident WHERE id = ?`, id))
	return i, notFound(err, "error.incident_not_found", id)
}

// Incidents lists incidents, newest first: causes and those without one, before the given id
// (0 = from the newest).
func (s *Store) Incidents(ctx context.Context, f model.IncidentFilter) ([]model.Incident, error) {
	where, args := ` WHERE parent_id IS NULL`, []any(nil)
	if f.JobID != 0 {
		where, args = ` WHERE job_id = ?`, append(args, f.JobID)
	}
	if f.Open {
		where += ` AND open_subject IS NOT NULL`
	}
	if f.Past {
		where += ` AND ended_at IS NOT NULL`
	}
	if f.Groups != nil {
		in, more := inGroups("group_id", f.Groups)
		if len(f.Groups) == 0 {
			in = " AND group_id IS NULL"
		} else {
			in = " AND (group_id IS NULL OR" + in[len(" AND"):] + ")"
		}
		where, args = where+in, append(args, more...)
	}
	if of, more := jobsOf("job_id", model.CounterFilter{Owner: f.Owner, Tag: f.Tag}); of != "" {
		where += ` AND (1 = 1` + of + ` OR id IN (SELECT parent_id FROM carillon_incident WHERE parent_id IS NOT NULL` + of + `))`
		args = append(append(args, more...), more...)
	}
	if f.Before != 0 {
		where, args = where+` AND id < ?`, append(args, f.Before)
	}
	return collect(ctx, s.r, scanIncident, `SELECT `+incidentColumns+` FROM carillon_incident`+where+` ORDER BY id DESC LIMIT ?`, append(args, f.Limit)...)
}

// CountIncidents counts those that last, as Incidents lists them.
func (s *Store) CountIncidents(ctx context.Context, groups []int) (n int, err error) {
	in, args := inGroups("group_id", groups)
	if groups != nil && len(groups) == 0 {
		in = " AND group_id IS NULL"
	} else if groups != nil {
		in = " AND (group_id IS NULL OR" + in[len(" AND"):] + ")"
	}
	err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM carillon_incident WHERE open_subject IS NOT NULL AND parent_id IS NULL`+in, args...).Scan(&n)
	return n, err
}

// IncidentMembers lists the incidents of which the given one is the cause, oldest first.
func (s *Store) IncidentMembers(ctx context.Context, id int64, limit int) ([]model.Incident, error) {
	return collect(ctx, s.r, scanIncident, `SELECT `+incidentColumns+` FROM carillon_incident WHERE parent_id = ? ORDER BY id LIMIT ?`, id, limit)
}

// CountMembers counts the incidents of which the given one is the cause.
func (s *Store) CountMembers(ctx context.Context, id int64) (n int, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM carillon_incident WHERE parent_id = ?`, id).Scan(&n)
	return n, err
}

// IncidentNotes lists the history of an incident, oldest first.
func (s *Store) IncidentNotes(ctx context.Context, id int64, limit int) ([]model.IncidentNote, error) {
	return collect(ctx, s.r, func(r row) (n model.IncidentNote, err error) {
		err = r.Scan(&n.ID, &n.IncidentID, &n.AtMS, &n.Kind, nz(&n.User), nz(&n.Text))
		return n, err
	}, `SELECT id, incident_id, at, kind, user_name, text FROM carillon_incident_note WHERE incident_id = ? ORDER BY id LIMIT ?`, id, limit)
}

// TouchIncident changes an incident that lasts as change says, with a line for its history.
// The change is made to what is stored at that moment. One that is over stays as it is:
// only comments are taken.
func (s *Store) TouchIncident(ctx context.Context, id int64, note model.IncidentNote, change func(*model.Incident)) error {
	return s.inTx(ctx, func(tx *sql.Tx) error { return s.touchIncident(ctx, tx, id, note, change) })
}

func (s *Store) touchIncident(ctx context.Context, tx *sql.Tx, id int64, note model.IncidentNote, change func(*model.Incident)) error {
	i, err := scanIncident(tx.QueryRowContext(ctx, `SELECT `+incidentColumns+` FROM carillon_incident WHERE id = ?`+s.d.forUpdate, id))
	if err != nil {
		return notFound(err, "error.incident_not_found", id)
	}
	if change != nil {
		if !i.Open() {
			return model.Errf(model.CodeConflict, "error.incident_over")
		}
		change(&i)
		if err := s.saveIncident(ctx, tx, &i); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO carillon_incident_note (incident_id, at, kind, user_name, text) VALUES `+rowsOf(5, 1),
		id, note.AtMS, note.Kind, null(cut(note.User, 100)), null(note.Text))
	return err
}

// RemoveIncidents removes a bite of incidents that ended before an instant, with what was
// told of them, and says how many.
func (s *Store) RemoveIncidents(ctx context.Context, before time.Time, limit int) (n int, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		ids, err := collect(ctx, tx, one[int64], `SELECT id FROM carillon_incident WHERE ended_at < ? ORDER BY ended_at LIMIT ?`, before.UnixMilli(), limit)
		n = len(ids)
		if err != nil || n == 0 {
			return err
		}
		for _, table := range []string{"carillon_outbox WHERE incident_id", "carillon_incident_note WHERE incident_id", "carillon_incident WHERE id"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` IN (`+marks(n)+`)`, anys(ids)...); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM carillon_outbox WHERE incident_id IS NULL AND made_at < ?`, before.UnixMilli())
		return err
	})
	return n, err
}

// AddressedGroups gives those of the executors that have an address.
func (s *Store) AddressedGroups(ctx context.Context, ids []int) ([]int, error) {
	var out []int
	err := chunks(ids, 500, func(part []int) error {
		list, err := collect(ctx, s.r, one[int], `SELECT id FROM xxl_job_group WHERE COALESCE(address_list, '') <> '' AND id IN (`+marks(len(part))+`) ORDER BY id`, anys(part)...)
		out = append(out, list...)
		return err
	})
	return out, err
}

// SilentGroups lists the executors that register, have no address, and have jobs that are on.
func (s *Store) SilentGroups(ctx context.Context) ([]int, error) {
	return collect(ctx, s.r, one[int], `SELECT g.id FROM xxl_job_group g WHERE g.address_type = 0 AND COALESCE(g.address_list, '') = ''
		AND EXISTS (SELECT 1 FROM xxl_job_info i WHERE i.job_group = g.id AND i.trigger_status = 1) ORDER BY g.id`)
}
