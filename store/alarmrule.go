package store

import (
	"context"
	"encoding/json"

	"github.com/carillon-scheduler/carillon/model"
)

// AlarmRules lists the rules, oldest first.
func (s *Store) AlarmRules(ctx context.Context) ([]model.AlarmRule, error) {
	return collect(ctx, s.r, func(r row) (a model.AlarmRule, err error) {
		var settings string
		if err = r.Scan(&a.ID, &a.Name, &a.Scope, nz(&a.GroupID), nz(&a.JobID), nz(&a.Tag), &settings); err == nil {
			err = json.Unmarshal([]byte(settings), &a.AlarmSettings)
		}
		return a, err
	}, `SELECT id, name, scope, group_id, job_id, tag, settings FROM carillon_alarm_rule ORDER BY id`)
}

// SaveAlarmRule writes a rule, a new one when it has no id, and returns its id.
func (s *Store) SaveAlarmRule(ctx context.Context, a model.AlarmRule) (int, error) {
	settings, err := json.Marshal(a.AlarmSettings)
	if err != nil {
		return 0, err
	}
	values := []any{a.Name, a.Scope, null(a.GroupID), null(a.JobID), null(a.Tag), string(settings)}
	if a.ID == 0 {
		res, err := s.w.ExecContext(ctx, `INSERT INTO carillon_alarm_rule (name, scope, group_id, job_id, tag, settings) VALUES `+rowsOf(6, 1), values...)
		if err != nil {
			return 0, err
		}
		id, err := res.LastInsertId()
		return int(id), err
	}
	there, err := matched(s.w.ExecContext(ctx, `UPDATE carillon_alarm_rule SET name = ?, scope = ?, group_id = ?, job_id = ?, tag = ?, settings = ? WHERE id = ?`, append(values, a.ID)...))
	if err == nil && !there {
		err = model.Errf(model.CodeNotFound, "error.rule_not_found", "ID", a.ID)
	}
	return a.ID, err
}

// DeleteAlarmRule removes a rule.
func (s *Store) DeleteAlarmRule(ctx context.Context, id int) error {
	_, err := s.w.ExecContext(ctx, `DELETE FROM carillon_alarm_rule WHERE id = ?`, id)
	return err
}

// Channels lists the channels by name.
func (s *Store) Channels(ctx context.Context) ([]model.Channel, error) {
	return collect(ctx, s.r, func(r row) (c model.Channel, err error) {
		err = r.Scan(&c.ID, &c.Name, &c.Kind, &c.URL, nz(&c.Secret), flag(&c.Disabled))
		return c, err
	}, `SELECT id, name, kind, url, secret, disabled FROM carillon_channel ORDER BY name, id`)
}

// SaveChannel writes a channel, a new one when it has no id, and returns its id.
func (s *Store) SaveChannel(ctx context.Context, c model.Channel) (int, error) {
	values := []any{c.Name, c.Kind, c.URL, null(c.Secret), null(c.Disabled)}
	if c.ID == 0 {
		res, err := s.w.ExecContext(ctx, `INSERT INTO carillon_channel (name, kind, url, secret, disabled) VALUES `+rowsOf(5, 1), values...)
		if err != nil {
			return 0, err
		}
		id, err := res.LastInsertId()
		return int(id), err
	}
	there, err := matched(s.w.ExecContext(ctx, `UPDATE carillon_channel SET name = ?, kind = ?, url = ?, secret = ?, disabled = ? WHERE id = ?`, append(values, c.ID)...))
	if err == nil && !there {
		err = model.Errf(model.CodeNotFound, "error.channel_not_found", "ID", c.ID)
	}
	return c.ID, err
}

// DeleteChannel removes a channel.
func (s *Store) DeleteChannel(ctx context.Context, id int) error {
	_, err := s.w.ExecContext(ctx, `DELETE FROM carillon_channel WHERE id = ?`, id)
	return err
}
