package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const incidentColumns = `id, subject, parent_id, job_id, group_id, severity, reason, detail, first_run, last_run, failed, missed,
	opened_at, last_at, ended_at, tell_at, told_at, reminders, escalated_at, acked_at, acked_by, muted_until, version`

func scanIncident(r row) (i model.Incident, err error) {
	err = r.Scan(&i.ID, &i.Subject, nz(&i.ParentID), nz(&i.JobID), nz(&i.GroupID), &i.Severity, &i.Reason, nz(&i.Detail), nz(&i.FirstRun), nz(&i.LastRun), &i.Failed, &i.Missed,
		&i.OpenedMS, &i.LastMS, nz(&i.EndedMS), nz(&i.TellMS), nz(&i.ToldMS), &i.Reminders, nz(&i.EscalatedMS), nz(&i.AckedMS), nz(&i.AckedBy), nz(&i.MutedMS), &i.Version)
	return i, err
}

// OpenIncidents lists the incidents that last, oldest first.
func (s *Store) OpenIncidents(ctx context.Context, limit int) ([]model.Incident, error) {
	return collect(ctx, s.r, scanIncident, `SELECT `+incidentColumns+` FROM carillon_incident WHERE open_subject IS NOT NULL ORDER BY id LIMIT ?`, limit)
}

// AlarmsDue reports whether there is something to decide at the instant (epoch ms).
func (s *Store) AlarmsDue(ctx context.Context, now int64) (bool, error) {
	list, err := collect(ctx, s.r, one[int], `SELECT 1 FROM (SELECT id FROM carillon_alarm_event LIMIT 1) AS e UNION ALL
		SELECT 1 FROM (SELECT id FROM carillon_incident WHERE tell_at <= ? LIMIT 1) AS i`, now)
	return len(list) > 0, err
}

// ErrAlarmsTaken means that another node has decided about the same events meanwhile.
var ErrAlarmsTaken = errors.New("another node has decided about these events")

// SaveAlarms writes a decision: all of it, or, when another node was faster, nothing and
// ErrAlarmsTaken.
func (s *Store) SaveAlarms(ctx context.Context, d *model.AlarmDecision, now time.Time) error {
	fresh := make([]*model.Incident, 0, len(d.Changed))
	for _, inc := range d.Changed {
		if inc.ID == 0 {
			fresh = append(fresh, inc)
		}
	}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		for _, inc := range fresh { // of an attempt before
			inc.ID, inc.Version = 0, 0
		}
		gone := 0
		err := chunks(d.Events, 1000, func(part []int64) error {
			res, err := tx.ExecContext(ctx, `DELETE FROM carillon_alarm_event WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			gone += int(n)
			return err
		})
		if err != nil {
			return err
		}
		if gone != len(d.Events) {
			return ErrAlarmsTaken
		}
		for _, inc := range d.Changed {
			if err := s.saveIncident(ctx, tx, inc); err != nil {
				return err
			}
		}
		for inc, parent := range d.Parents {
			if inc.ID == 0 || parent.ID == 0 || inc.ParentID == parent.ID {
				continue
			}
			if _, err := tx.ExecContext(ctx, `UPDATE carillon_incident SET parent_id = ? WHERE id = ?`, parent.ID, inc.ID); err != nil {
				return err
			}
		}
		if err := s.addIncidentNotes(ctx, tx, d.Notes, now); err != nil {
			return err
		}
		if err := s.addMessages(ctx, tx, d.Told, now); err != nil {
			return err
		}
		return s.setAlarmStatus(ctx, tx, d.Runs)
	})
	if isDuplicate(err) {
		return ErrAlarmsTaken
	}
	return err
}

// saveIncident writes a new incident, or one that has not changed since it was read.
func (s *Store) saveIncident(ctx context.Context, tx *sql.Tx, i *model.Incident) error {
	open := null(i.Subject)
	if !i.Open() {
		open = nil
	}
	values := []any{i.Subject, open, null(i.ParentID), null(i.JobID), null(i.GroupID), i.Severity, i.Reason, null(i.Detail), null(i.FirstRun), null(i.LastRun), i.Failed, i.Missed,
		i.OpenedMS, i.LastMS, null(i.EndedMS), null(i.TellMS), null(i.ToldMS), i.Reminders, null(i.EscalatedMS), null(i.AckedMS), null(cut(i.AckedBy, 100)), null(i.MutedMS)}
	if i.ID == 0 {
		res, err := tx.ExecContext(ctx, `INSERT INTO carillon_incident (subject, open_subject, parent_id, job_id, group_id, severity, reason, detail, first_run, last_run, failed, missed,
			opened_at, last_at, ended_at, tell_at, told_at, reminders, escalated_at, acked_at, acked_by, muted_until, version) VALUES `+rowsOf(23, 1), append(values, 1)...)
		if err != nil {
			return err
		}
		i.Version = 1
		i.ID, err = res.LastInsertId()
		return err
	}
	n, err := matched(tx.ExecContext(ctx, `UPDATE carillon_incident SET subject = ?, open_subject = ?, parent_id = ?, job_id = ?, group_id = ?, severity = ?, reason = ?, detail = ?, first_run = ?, last_run = ?,
		failed = ?, missed = ?, opened_at = ?, last_at = ?, ended_at = ?, tell_at = ?, told_at = ?, reminders = ?, escalated_at = ?, acked_at = ?, acked_by = ?, muted_until = ?,
		version = version + 1 WHERE id = ? AND version = ?`, append(values, i.ID, i.Version)...))
	if err == nil && !n {
		return ErrAlarmsTaken
	}
	return err
}

func (s *Store) addIncidentNotes(ctx context.Context, tx *sql.Tx, notes []model.DecidedNote, now time.Time) error {
	return chunks(notes, 300, func(part []model.DecidedNote) error {
		var args []any
		for _, n := range part {
			args = append(args, n.Incident.ID, now.UnixMilli(), n.Kind, null(n.Text))
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO carillon_incident_note (incident_id, at, kind, text) VALUES `+rowsOf(4, len(part)), args...)
		return err
	})
}

// addMessages puts what is to be told into the outbox; what is there already stays as it is.
func (s *Store) addMessages(ctx context.Context, tx *sql.Tx, told []model.Telling, now time.Time) error {
	var args []any
	const columns = 10
	flush := func() error {
		if len(args) == 0 {
			return nil
		}
		_, err := tx.ExecContext(ctx, s.d.insertIgnore+`carillon_outbox (incident_id, dedup, step, channel, target, job_ids, state, attempts, made_at, next_at) VALUES `+
			rowsOf(columns, len(args)/columns), args...)
		args = args[:0]
		return err
	}
	for _, x := range told {
		targets, at := x.Targets, max(now.UnixMilli(), x.NotBeforeMS)
		if x.Step == model.StepEnded {
			err := flush() // what is told in the same moment
			if err != nil {
				return err
			}
			if targets, err = s.toldOf(ctx, tx, x.Incident.ID); err != nil {
				return err
			}
		}
		for _, to := range targets {
			var ids any
			if to.JobIDs != nil {
				b, err := json.Marshal(to.JobIDs)
				if err != nil {
					return err
				}
				ids = string(b)
			}
			args = append(args, x.Incident.ID, dedupKey(x.Incident.ID, x.Step, x.N, to), x.Step, to.Channel, cut(to.Name, 320), ids, model.OutboxWaiting, 0, at, at)
			if len(args) >= 200*columns {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// toldOf gives those who were told of an incident, each with all jobs that they heard of: they
// hear of its end, whatever the rules and the jobs say by now.
func (s *Store) toldOf(ctx context.Context, tx *sql.Tx, incident int64) ([]model.TellTarget, error) {
	type told struct{ channel, name, jobs string }
	list, err := collect(ctx, tx, func(r row) (x told, err error) {
		err = r.Scan(&x.channel, &x.name, nz(&x.jobs))
		return x, err
	}, `SELECT channel, target, job_ids FROM carillon_outbox WHERE incident_id = ? AND step <> ? ORDER BY id`, incident, model.StepEnded)
	var out []model.TellTarget
	for _, x := range list {
		i := slices.IndexFunc(out, func(t model.TellTarget) bool { return t.Channel == x.channel && t.Name == x.name })
		if i < 0 {
			i = len(out)
			out = append(out, model.TellTarget{Channel: x.channel, Name: x.name, JobIDs: []int{}})
		}
		if x.jobs == "" {
			out[i].JobIDs = nil
		} else if out[i].JobIDs != nil {
			var ids []int
			if err := json.Unmarshal([]byte(x.jobs), &ids); err != nil {
				return nil, err
			}
			out[i].JobIDs = append(out[i].JobIDs, ids...)
			slices.Sort(out[i].JobIDs)
			out[i].JobIDs = slices.Compact(out[i].JobIDs)
		}
	}
	return out, err
}

func dedupKey(incident int64, step string, n int, to model.TellTarget) string {
	key := strconv.FormatInt(incident, 10) + ":" + step
	if n > 0 {
		key += strconv.Itoa(n)
	}
	name := to.Channel + ":" + to.Name
	if len(name) > 100 {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:16])
	}
	return key + ":" + name
}

// setAlarmStatus says on runs whether somebody is told of them. What is decided stays.
func (s *Store) setAlarmStatus(ctx context.Context, tx *sql.Tx, runs map[int64]int) error {
	byStatus := map[int][]int64{}
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		byStatus[runs[id]] = append(byStatus[runs[id]], id)
	}
	for _, status := range slices.SortedFunc(maps.Keys(byStatus), cmp.Compare) {
		err := chunks(byStatus[status], 1000, func(part []int64) error {
			_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET alarm_status = ? WHERE id IN (`+marks(len(part))+`) AND alarm_status IN (0, -1, ?)`,
				slices.Concat([]any{status}, anys(part), []any{status})...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SucceededSince gives those of the jobs of the incidents that have a run, among their newest
// ones, that succeeded after the last event or was written after its run.
func (s *Store) SucceededSince(ctx context.Context, of []model.Incident) ([]int, error) {
	var out []int
	err := chunks(of, 100, func(part []model.Incident) error {
		var query string
		var args []any
		for i, inc := range part {
			if i > 0 {
				query += " UNION ALL "
			}
			query += `SELECT job_id FROM (SELECT id, job_id, handle_code, finished_time FROM xxl_job_log WHERE job_id = ? ORDER BY id DESC LIMIT 50) AS t` + strconv.Itoa(i) +
				` WHERE handle_code = 200 AND (finished_time > ? OR id > ?)`
			last := inc.LastRun
			if last == 0 {
				last = math.MaxInt64
			}
			args = append(args, inc.JobID, inc.LastMS, last)
		}
		list, err := collect(ctx, s.r, one[int], query, args...)
		slices.Sort(list)
		out = append(out, slices.Compact(list)...)
		return err
	})
	return out, err
}
