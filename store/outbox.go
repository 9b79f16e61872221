package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const outboxColumns = `id, incident_id, dedup, step, channel, target, job_ids, state, owner, attempts, made_at, next_at, sent_at, code, answer, folded_in`

func scanMessage(r row) (m model.Message, err error) {
	var ids string
	err = r.Scan(&m.ID, nz(&m.IncidentID), &m.Dedup, &m.Step, &m.Channel, &m.Target, nz(&ids), &m.State, nz(&m.Owner), &m.Attempts, &m.MadeMS, &m.NextMS, nz(&m.SentMS),
		nz(&m.Code), nz(&m.Answer), nz(&m.FoldedIn))
	if err == nil && ids != "" {
		err = json.Unmarshal([]byte(ids), &m.JobIDs)
	}
	return m, err
}

// DueMessages lists what is to be sent over a channel ("" = any) by now (epoch ms), and what
// somebody began to send who is gone, oldest first.
func (s *Store) DueMessages(ctx context.Context, channel string, now int64, limit int) ([]model.Message, error) {
	only, args := "", []any{model.OutboxWaiting, now}
	if channel != "" {
		only, args = ` AND channel = ?`, append(args, channel)
	}
	// By time, as the index has them: the messages that wait may be many.
	list, err := collect(ctx, s.r, scanMessage, `SELECT `+outboxColumns+` FROM carillon_outbox WHERE state = ? AND next_at <= ?`+only+` ORDER BY next_at, id LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	left, err := s.leftMessages(ctx, channel, now)
	list = append(list, left...)
	slices.SortFunc(list, func(a, b model.Message) int { return cmp.Compare(a.ID, b.ID) })
	return list, err
}

// messageOwnerGone is after how many milliseconds without a beat a node sends no more.
const messageOwnerGone = 30_000

// leftMessages lists what somebody began to send whose time is over, or who is gone: the
// process has a successor, or is silent.
func (s *Store) leftMessages(ctx context.Context, channel string, now int64) ([]model.Message, error) {
	list, err := collect(ctx, s.r, scanMessage, `SELECT `+outboxColumns+` FROM carillon_outbox WHERE state = ?`, model.OutboxSending)
	list = slices.DeleteFunc(list, func(m model.Message) bool { return channel != "" && m.Channel != channel })
	if err != nil || len(list) == 0 {
		return nil, err
	}
	nodes, err := s.LiveNodes(ctx, messageOwnerGone)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(m model.Message) bool {
		name, epoch := ownerParts(m.Owner)
		return m.NextMS > now && slices.ContainsFunc(nodes, func(n model.Node) bool { return n.Name == name && n.Epoch == epoch })
	}), nil
}

// ClaimMessage takes a message for sending until an instant (epoch ms). It reports false when
// somebody else was faster.
func (s *Store) ClaimMessage(ctx context.Context, m *model.Message, owner string, until int64) (bool, error) {
	ok, err := matched(s.w.ExecContext(ctx, `UPDATE carillon_outbox SET state = ?, owner = ?, attempts = attempts + 1, next_at = ? WHERE id = ? AND state = ? AND attempts = ?`,
		model.OutboxSending, cut(owner, 200), until, m.ID, m.State, m.Attempts))
	if ok {
		m.State, m.Owner, m.NextMS = model.OutboxSending, owner, until
		m.Attempts++
	}
	return ok, err
}

// RecordMessage writes what became of a message that its owner has sent or tried to send, and
// says so on the runs that it told of. Whoever lost it meanwhile writes nothing.
func (s *Store) RecordMessage(ctx context.Context, m model.Message) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		ok, err := matched(tx.ExecContext(ctx, `UPDATE carillon_outbox SET state = ?, next_at = ?, sent_at = ?, code = ?, answer = ? WHERE id = ? AND owner = ? AND attempts = ?`,
			m.State, m.NextMS, null(m.SentMS), null(m.Code), null(cut(m.Answer, 1000)), m.ID, cut(m.Owner, 200), m.Attempts))
		if err != nil || !ok {
			return err
		}
		status := map[string]int{model.OutboxSent: 2, model.OutboxFailed: 3}[m.State]
		if m.Step == model.StepDigest && status != 0 {
			return s.setAlarmStatusOf(ctx, tx, m.ID, status)
		}
		if m.Step != model.StepOpened || status == 0 {
			return nil
		}
		_, err = tx.ExecContext(ctx, `UPDATE xxl_job_log SET alarm_status = ? WHERE id = (SELECT first_run FROM carillon_incident WHERE id = ?) AND alarm_status IN (0, -1, 3)`, status, m.IncidentID)
		return err
	})
}

// setAlarmStatusOf says on the runs that a digest is about what became of it.
func (s *Store) setAlarmStatusOf(ctx context.Context, tx *sql.Tx, digest int64, status int) error {
	runs, err := collect(ctx, tx, one[int64], `SELECT COALESCE(i.first_run, 0) FROM carillon_outbox o JOIN carillon_incident i ON i.id = o.incident_id WHERE o.folded_in = ?`, digest)
	if err != nil {
		return err
	}
	slices.Sort(runs)
	return chunks(slices.Compact(runs), 1000, func(part []int64) error {
		_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET alarm_status = ? WHERE id IN (`+marks(len(part))+`) AND alarm_status IN (-1, 3)`, append([]any{status}, anys(part)...)...)
		return err
	})
}

// SentTo says what a target got since an instant (epoch ms), and which digests wait for it.
func (s *Store) SentTo(ctx context.Context, channel, target string, since int64) (out model.Sent, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT COALESCE(SUM(CASE WHEN step <> ? THEN 1 ELSE 0 END), 0), COALESCE(MAX(CASE WHEN step = ? THEN sent_at END), 0)
		FROM carillon_outbox WHERE target = ? AND sent_at >= ? AND channel = ?`, model.StepDigest, model.StepDigest, target, since, channel).Scan(&out.Single, &out.LastDigest)
	if err == nil {
		err = s.r.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN state = ? THEN 1 ELSE 0 END), 0) FROM carillon_outbox WHERE state IN (?, ?) AND step = ? AND target = ? AND channel = ?`,
			model.OutboxSending, model.OutboxWaiting, model.OutboxSending, model.StepDigest, target, channel).Scan(&out.Digests, &out.Sending)
	}
	return out, err
}

// FoldMessages makes one digest of messages to one target that nobody is sending. It reports
// false when some of them were taken meanwhile: nothing is folded.
func (s *Store) FoldMessages(ctx context.Context, of []model.Message, now time.Time) (bool, error) {
	if len(of) == 0 {
		return false, nil
	}
	folded := false
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		folded = false
		first := of[0]
		id, err := s.waitingDigest(ctx, tx, first)
		if err != nil {
			return err
		}
		if id == 0 {
			if id, err = s.newDigest(ctx, tx, first, now); err != nil || id == 0 {
				return err
			}
		}
		n := 0
		err = chunks(of, 500, func(part []model.Message) error {
			ids := make([]any, len(part))
			for i := range part {
				ids[i] = part[i].ID
			}
			res, err := tx.ExecContext(ctx, `UPDATE carillon_outbox SET state = ?, folded_in = ? WHERE id IN (`+marks(len(ids))+`) AND state = ?`,
				append([]any{model.OutboxFolded, id}, append(ids, model.OutboxWaiting)...)...)
			if err != nil {
				return err
			}
			k, err := res.RowsAffected()
			n += int(k)
			return err
		})
		if err != nil {
			return err
		}
		if n != len(of) {
			return ErrAlarmsTaken
		}
		folded = true
		return nil
	})
	if errors.Is(err, ErrAlarmsTaken) {
		return false, nil
	}
	return folded, err
}

// waitingDigest locks a digest for the same target that nobody has begun to send; 0 = none.
func (s *Store) waitingDigest(ctx context.Context, tx *sql.Tx, m model.Message) (int64, error) {
	list, err := collect(ctx, tx, one[int64], `SELECT id FROM carillon_outbox WHERE state = ? AND step = ? AND target = ? AND channel = ? ORDER BY id LIMIT 1`+s.d.forUpdate,
		model.OutboxWaiting, model.StepDigest, m.Target, m.Channel)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return list[0], nil
}

// newDigest writes an empty digest for the target of the first message; 0 = somebody has done
// so already.
func (s *Store) newDigest(ctx context.Context, tx *sql.Tx, first model.Message, now time.Time) (int64, error) {
	res, err := tx.ExecContext(ctx, `INSERT INTO carillon_outbox (dedup, step, channel, target, state, attempts, made_at, next_at) VALUES `+rowsOf(8, 1),
		"digest:"+strconv.FormatInt(first.ID, 10), model.StepDigest, first.Channel, first.Target, model.OutboxWaiting, 0, now.UnixMilli(), now.UnixMilli())
	if isDuplicate(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// PostponeMessages lets messages that nobody is sending wait until an instant (epoch ms).
func (s *Store) PostponeMessages(ctx context.Context, of []model.Message, until int64) error {
	return chunks(of, 500, func(part []model.Message) error {
		ids := make([]any, len(part))
		for i := range part {
			ids[i] = part[i].ID
		}
		_, err := s.w.ExecContext(ctx, `UPDATE carillon_outbox SET next_at = ? WHERE id IN (`+marks(len(ids))+`) AND state = ?`, append([]any{until}, append(ids, model.OutboxWaiting)...)...)
		return err
	})
}

// HastenMessages says of messages that wait, over a channel ("" = any), that they are tried so
// many milliseconds earlier, and no later than most after now (epoch ms). What is only made
// after now, as a clock that was set back says, and was never tried is due.
func (s *Store) HastenMessages(ctx context.Context, channel string, now, back, most int64) error {
	only, args := "", []any{now, now, back, now, now, back, now + most, now + most, back, model.OutboxWaiting, now}
	if channel != "" {
		only, args = ` AND channel = ?`, append(args, channel)
	}
	_, err := s.w.ExecContext(ctx, `UPDATE carillon_outbox SET next_at = CASE WHEN attempts = 0 AND made_at > ? THEN ?
		WHEN next_at - ? < ? THEN ? WHEN next_at - ? > ? THEN ? ELSE next_at - ? END WHERE state = ? AND next_at > ?`+only, args...)
	return err
}

// MessagesOf lists what was told of an incident, also what was folded, oldest first; of a
// digest what is folded into it.
func (s *Store) MessagesOf(ctx context.Context, incident int64, limit int) ([]model.Message, error) {
	return collect(ctx, s.r, scanMessage, `SELECT `+outboxColumns+` FROM carillon_outbox WHERE incident_id = ? ORDER BY id LIMIT ?`, incident, limit)
}

// MessagesIn lists what was folded into a digest, oldest first.
func (s *Store) MessagesIn(ctx context.Context, digest int64, limit int) ([]model.Message, error) {
	return collect(ctx, s.r, scanMessage, `SELECT `+outboxColumns+` FROM carillon_outbox WHERE folded_in = ? ORDER BY id LIMIT ?`, digest, limit)
}
