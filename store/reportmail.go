package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/carillon-scheduler/carillon/model"
)

const reportMailColumns = `id, name, settings, next_at, last_at`

func scanReportMail(r row) (m model.ReportMail, err error) {
	var settings string
	if err = r.Scan(&m.ID, &m.Name, &settings, &m.NextMS, nz(&m.LastMS)); err == nil {
		err = json.Unmarshal([]byte(settings), &m.ReportMailSettings)
	}
	return m, err
}

// ReportMails lists the reports that go out by mail, by name.
func (s *Store) ReportMails(ctx context.Context) ([]model.ReportMail, error) {
	return collect(ctx, s.r, scanReportMail, `SELECT `+reportMailColumns+` FROM carillon_report_mail ORDER BY name, id`)
}

// ReportMail reads one; a missing one is model.CodeNotFound.
func (s *Store) ReportMail(ctx context.Context, id int) (model.ReportMail, error) {
	m, err := scanReportMail(s.r.QueryRowContext(ctx, `SELECT `+reportMailColumns+` FROM carillon_report_mail WHERE id = ?`, id))
	return m, notFound(err, "error.report_mail_not_found", int64(id))
}

// SaveReportMail writes one, a new one when it has no id, and returns its id.
func (s *Store) SaveReportMail(ctx context.Context, m model.ReportMail) (int, error) {
	settings, err := json.Marshal(m.ReportMailSettings)
	if err != nil {
		return 0, err
	}
	if m.ID == 0 {
		res, err := s.w.ExecContext(ctx, `INSERT INTO carillon_report_mail (name, settings, next_at) VALUES (?, ?, ?)`, m.Name, string(settings), m.NextMS)
		if err != nil {
			return 0, err
		}
		id, err := res.LastInsertId()
		return int(id), err
	}
	there, err := matched(s.w.ExecContext(ctx, `UPDATE carillon_report_mail SET name = ?, settings = ?, next_at = ? WHERE id = ?`, m.Name, string(settings), m.NextMS, m.ID))
	if err == nil && !there {
		err = model.Errf(model.CodeNotFound, "error.report_mail_not_found", "ID", m.ID)
	}
	return m.ID, err
}

// DeleteReportMail removes one.
func (s *Store) DeleteReportMail(ctx context.Context, id int) error {
	_, err := s.w.ExecContext(ctx, `DELETE FROM carillon_report_mail WHERE id = ?`, id)
	return err
}

// DueReportMails lists those that are to go out by now (epoch ms).
func (s *Store) DueReportMails(ctx context.Context, now int64) ([]model.ReportMail, error) {
	return collect(ctx, s.r, scanReportMail, `SELECT `+reportMailColumns+` FROM carillon_report_mail WHERE next_at > 0 AND next_at <= ? ORDER BY id`, now)
}

// PostReport puts a report into the outbox, a message for each address, and says when it
// goes out next. Whoever finds that another node did it writes nothing. Of the same days
// nobody gets a second one.
func (s *Store) PostReport(ctx context.Context, m model.ReportMail, first string, to []string, next, now int64) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		ok, err := matched(tx.ExecContext(ctx, `UPDATE carillon_report_mail SET next_at = ?, last_at = CASE WHEN ? THEN ? ELSE last_at END WHERE id = ? AND next_at = ?`,
			next, len(to) > 0, now, m.ID, m.NextMS))
		if err != nil || !ok {
			return err
		}
		for _, address := range to {
			if _, err := tx.ExecContext(ctx, s.d.insertIgnore+`carillon_outbox (dedup, step, channel, target, state, attempts, made_at, next_at) VALUES (?, ?, ?, ?, ?, 0, ?, ?)`,
				cut(model.ReportKey(m.ID, m.Kind, first, address), 200), model.StepReport, model.ChannelMail, address, model.OutboxWaiting, now, now); err != nil {
				return err
			}
		}
		return nil
	})
}
