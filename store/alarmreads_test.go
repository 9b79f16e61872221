package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestAlarmsReadLittle counts the rows that MariaDB reads for each call beside 100,000 past
// incidents, 3,000 open ones and 100,000 messages, of which 2,000 wait.
func TestAlarmsReadLittle(t *testing.T) {
	st := suite.Open(t, "mariadb", time.UTC)
	g := storetest.Group(t, st, "app-one", "")
	j := storetest.Job(t, st, g.ID, nil)
	db, done, err := st.MigrationDB()
	require.NoError(t, err)
	for _, q := range []string{
		`INSERT INTO carillon_incident (subject, open_subject, parent_id, job_id, group_id, severity, reason, failed, missed, opened_at, last_at, ended_at, tell_at, reminders, version)
			SELECT CONCAT('job:', seq), IF(seq > 100000, CONCAT('job:', seq), NULL), IF(seq % 10 = 0, seq DIV 10 + 1, NULL), seq % 5000, 1, 'critical', 'error', 1, 0, seq, seq, IF(seq > 100000, NULL, seq), seq + 1000000, 0, 1 FROM seq_1_to_103000`,
		`INSERT INTO carillon_incident_note (incident_id, at, kind) SELECT seq, seq, 'opened' FROM seq_1_to_103000`,
		`INSERT INTO carillon_outbox (incident_id, dedup, step, channel, target, state, attempts, made_at, next_at, sent_at, folded_in)
			SELECT seq, seq, 'opened', 'mail', CONCAT('p', seq % 500, '@example.org'), IF(seq > 98000, 'waiting', IF(seq % 5 = 0, 'folded', 'sent')), 1, seq, IF(seq > 98000, seq + 1000000, seq), IF(seq > 98000, NULL, seq), IF(seq % 5 = 0, seq DIV 100, NULL) FROM seq_1_to_100000`,
		`INSERT INTO xxl_job_log (job_group, job_id, trigger_code, handle_code, alarm_status, run_state, owner, planned_time, sent_time, finished_time, trigger_time)
			SELECT 1, seq % 1000, 200, IF(seq > 2000, 200, 0), 0, IF(seq > 2000, 5, IF(seq > 1000, 1, 4)), 'n#1', seq, seq, IF(seq > 2000, seq + 5, NULL), FROM_UNIXTIME(1700000000 + seq) FROM seq_1_to_100000`,
		`ANALYZE TABLE xxl_job_log, carillon_incident, carillon_outbox, carillon_incident_note`,
	} {
		_, err := db.ExecContext(t.Context(), q)
		require.NoError(t, err)
	}
	reads := func() (n int) {
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT SUM(VARIABLE_VALUE) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN
			('HANDLER_READ_NEXT', 'HANDLER_READ_PREV', 'HANDLER_READ_RND', 'HANDLER_READ_RND_NEXT', 'HANDLER_READ_KEY', 'HANDLER_READ_FIRST')`).Scan(&n))
		return n
	}
	one := model.Message{ID: 90_001, IncidentID: 90_001, Channel: "mail", Target: "p1@example.org", Step: model.StepOpened, State: model.OutboxSent, Attempts: 1}
	for name, x := range map[string]struct {
		most int
		call func(ctx context.Context) error
	}{
		"is something due": {20, func(ctx context.Context) error { _, err := st.AlarmsDue(ctx, 1); return err }},
		"long runs":        {2100, func(ctx context.Context) error { _, err := st.OpenRuns(ctx, 101); return err }},
		"no long runs":     {1100, func(ctx context.Context) error { _, err := st.OpenRuns(ctx, 1); return err }}, // the index of all open ones
		"usual durations":  {600, func(ctx context.Context) error { _, err := st.UsualDurations(ctx, []int{1, 2, 3}); return err }},
		"done by": {3100, func(ctx context.Context) error {
			from := map[int]int64{}
			for id := range 1000 {
				from[id] = 50_000 // the newest run of each has succeeded
			}
			_, err := st.SucceededFrom(ctx, from)
			return err
		}},
		"not done by": {1000, func(ctx context.Context) error {
			_, err := st.SucceededFrom(ctx, map[int]int64{7: 9_700_000_000_000, 8: 1_700_000_090_000}) // all of their runs since then
			return err
		}},
		"late fires": {3100, func(ctx context.Context) error { _, err := st.LateFires(ctx, 1501); return err }},
		"recent failures": {300, func(ctx context.Context) error {
			_, err := st.RecentFailures(ctx, map[int]int{7: 10, 8: 10})
			return err
		}},
		"events":            {20, func(ctx context.Context) error { _, err := st.AlarmEvents(ctx, 1000); return err }},
		"open incidents":    {6100, func(ctx context.Context) error { _, err := st.OpenIncidents(ctx, 100_000); return err }},
		"due messages":      {100, func(ctx context.Context) error { _, err := st.DueMessages(ctx, "mail", 1, 500); return err }},
		"many due messages": {1100, func(ctx context.Context) error { _, err := st.DueMessages(ctx, "mail", 9_000_000, 500); return err }},
		"what somebody got": {1000, func(ctx context.Context) error {
			_, err := st.SentTo(ctx, "mail", "p1@example.org", 95_000)
			return err
		}},
		"record":               {50, func(ctx context.Context) error { return st.RecordMessage(ctx, one) }},
		"messages of":          {50, func(ctx context.Context) error { _, err := st.MessagesOf(ctx, 50_000, 500); return err }},
		"messages in a digest": {100, func(ctx context.Context) error { _, err := st.MessagesIn(ctx, 500, 10_000); return err }},
		"notes":                {50, func(ctx context.Context) error { _, err := st.IncidentNotes(ctx, 500, 500); return err }},
		"members":              {100, func(ctx context.Context) error { _, err := st.IncidentMembers(ctx, 500, 50); return err }},
		"count members":        {100, func(ctx context.Context) error { _, err := st.CountMembers(ctx, 500); return err }},
		"list of open": {6500, func(ctx context.Context) error {
			_, err := st.Incidents(ctx, model.IncidentFilter{Open: true, Limit: 200})
			return err
		}},
		"list of past": {6500, func(ctx context.Context) error {
			_, err := st.Incidents(ctx, model.IncidentFilter{Past: true, Limit: 51})
			return err
		}},
		"of a job": {200, func(ctx context.Context) error {
			_, err := st.Incidents(ctx, model.IncidentFilter{JobID: 77, Limit: 20})
			return err
		}},
		"count open": {6500, func(ctx context.Context) error { _, err := st.CountIncidents(ctx, []int{1}); return err }},
		"remove old": {8000, func(ctx context.Context) error {
			_, err := st.RemoveIncidents(ctx, time.UnixMilli(1000), 500)
			return err
		}},
		"fold": {2000, func(ctx context.Context) error {
			some, err := st.DueMessages(ctx, "mail", 9_000_000, 200)
			_, foldErr := st.FoldMessages(ctx, some[:1], time.UnixMilli(1))
			return errors.Join(err, foldErr)
		}},
		"tell": {200, func(ctx context.Context) error {
			inc := &model.Incident{Subject: "job:x", JobID: j.ID, Reason: "error", Severity: "critical", OpenedMS: 1, LastMS: 1}
			to := []model.TellTarget{{Channel: "mail", Name: "x@example.org"}}
			return st.SaveAlarms(ctx, &model.AlarmDecision{Changed: []*model.Incident{inc}, Told: []model.Telling{{Incident: inc, Step: model.StepEnded, Targets: to}, {Incident: inc, Step: model.StepOpened, Targets: to}}}, time.UnixMilli(1))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			empty := reads()
			own := reads() - empty // of the question itself
			before := reads()
			require.NoError(t, x.call(t.Context()))
			n := reads() - before - own
			require.LessOrEqual(t, n, x.most)
			t.Log(n)
		})
	}
	require.NoError(t, done())
}
