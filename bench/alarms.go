package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// AlarmsCmd measures what is told, and what telling costs, when much is wrong at once.
type AlarmsCmd struct {
	Gone    int           `help:"Jobs of the executor that goes away." default:"1000"`
	Failing int           `help:"Failing runs per minute." default:"10000"`
	Storm   time.Duration `help:"How long they fail." default:"3m"`
	People  int           `help:"Addresses that share the failing jobs." default:"20"`
	Healthy int           `help:"Runs per second of the jobs beside them." default:"300"`
}

// stormEvery is how often a failing job fires, in seconds.
const stormEvery = 3

// Run measures on one site.
func (c *AlarmsCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) (err error) {
	box, err := openMailbox()
	if err != nil {
		return err
	}
	defer box.close()
	s, err := flags.open(ctx, siteNeeds{pool: 512, args: []string{"--smtp-url", "smtp://" + box.addr + "?tls=none", "--mail-from", "bench@example.org", "--lang", "en"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	out.printf("### Alarms: an executor that goes away, a storm of failing runs\n\n")
	out.environment(ctx, s)
	if err := c.gone(ctx, s, box, out); err != nil {
		return err
	}
	return c.storm(ctx, s, box, out)
}

// gone lets an executor with many jobs go away and come back.
func (c *AlarmsCmd) gone(ctx context.Context, s *site, box *mailbox, out *Report) error {
	other := *s
	e, err := newCounter(fmt.Sprintf("gone%d", time.Now().UnixMilli()), s.token, s.counters[0].centers, 0)
	if err != nil {
		return err
	}
	if err := e.start(); err != nil {
		return err
	}
	defer e.kill()
	if other.group, err = addGroup(ctx, s.db, e.app); err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, `UPDATE xxl_job_group SET address_type = 1, address_list = ? WHERE id = ?`, e.url(), other.group); err != nil {
		return err
	}
	if err := c.add(ctx, &other, c.Gone, 10, handlerCount, 1); err != nil {
		return err
	}
	if err := pause(ctx, 15*time.Second); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "the executor goes away")
	e.kill()
	left := time.Now()
	if err := pause(ctx, 90*time.Second); err != nil {
		return err
	}
	opened := box.since(left)
	fmt.Fprintln(os.Stderr, "the executor comes back")
	back := time.Now()
	if err := e.start(); err != nil {
		return err
	}
	if err := pause(ctx, 45*time.Second); err != nil {
		return err
	}
	ended := box.since(back)
	if err := switchOff(ctx, s.db, other.group); err != nil {
		return err
	}
	first := func(list []taken, from time.Time) string {
		if len(list) == 0 {
			return "none"
		}
		return fmt.Sprintf("%.1f s", list[0].at.Sub(from).Seconds())
	}
	out.table([]string{"jobs", "messages in 90 s", "until the first", "messages of the end in 45 s", "until the first"}, [][]string{{
		fmt.Sprint(c.Gone), fmt.Sprint(len(opened)), first(opened, left), fmt.Sprint(len(ended)), first(ended, back),
	}})
	return nil
}

// add puts jobs of one kind into the table, spread evenly over their period, whose alarms
// reach so many people.
func (c *AlarmsCmd) add(ctx context.Context, s *site, n, every int, handler string, people int) error {
	start := time.Now().Truncate(time.Second).Add(4 * time.Second)
	list := make([]jobRow, n)
	for i := range list {
		list[i] = jobRow{
			name: fmt.Sprintf("%s %d", handler, i), kind: "FIX_RATE", conf: fmt.Sprint(every), misfire: "DO_NOTHING", route: "ROUND", handler: handler,
			status: 1, next: start.Add(time.Duration(i%every) * time.Second).UnixMilli(),
		}
	}
	ids, err := insertJobs(ctx, s.db, s.group, list)
	if err != nil || people == 0 {
		return err
	}
	_, err = s.db.ExecContext(ctx, `UPDATE xxl_job_info SET alarm_email = CONCAT('person', id % ?, '@example.org') WHERE id BETWEEN ? AND ?`, people, ids[0], ids[len(ids)-1])
	return err
}

// storm lets many jobs fail again and again, and some of them come and go, beside healthy ones.
func (c *AlarmsCmd) storm(ctx context.Context, s *site, box *mailbox, out *Report) error {
	if err := c.add(ctx, s, c.Healthy, 1, handlerCount, 0); err != nil {
		return err
	}
	if err := pause(ctx, 10*time.Second); err != nil {
		return err
	}
	calm, at := time.Now(), used(s.nodes[0].pid())
	if err := pause(ctx, time.Minute); err != nil {
		return err
	}
	late := func(from, to time.Time) (p50, p99 time.Duration, err error) {
		list, err := s.latenessOf(ctx, from, to, handlerCount)
		return percentile(list, 50), percentile(list, 99), err
	}
	before50, before99, err := late(calm, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "the storm begins")
	began := time.Now()
	if err := c.add(ctx, s, c.Failing*stormEvery/60, stormEvery, handlerFail, c.People); err != nil {
		return err
	}
	if err := c.add(ctx, s, 100, stormEvery, handlerFlaky, c.People); err != nil {
		return err
	}
	if err := pause(ctx, 15*time.Second); err != nil {
		return err
	}
	settled := time.Now()
	first := used(s.nodes[0].pid())
	if err := pause(ctx, c.Storm); err != nil {
		return err
	}
	over := time.Now()
	last := used(s.nodes[0].pid())
	during50, during99, err := late(settled, over.Add(-time.Second))
	if err != nil {
		return err
	}
	if err := switchOff(ctx, s.db, s.group); err != nil {
		return err
	}
	per, most := map[string]int{}, 0
	for _, m := range box.since(began) {
		per[m.to]++
		most = max(most, per[m.to])
	}
	var incidents, waiting, failed, messages int
	for query, n := range map[string]*int{
		`SELECT COUNT(*) FROM carillon_incident`: &incidents, `SELECT COUNT(*) FROM carillon_alarm_event`: &waiting, `SELECT COUNT(*) FROM carillon_outbox`: &messages,
		fmt.Sprintf(`SELECT COUNT(*) FROM xxl_job_log WHERE handle_code = 500 AND planned_time BETWEEN %d AND %d`, settled.UnixMilli(), over.UnixMilli()): &failed,
	} {
		if err := s.db.QueryRowContext(ctx, query).Scan(n); err != nil {
			return err
		}
	}
	minutes := over.Sub(settled).Minutes()
	out.table([]string{"failing runs per minute", "for", "people", "most messages to one", "incidents", "messages decided", "events left", "center memory before, at the start, at the end", "healthy runs/s", "late p50, p99 before", "during"}, [][]string{{
		fmt.Sprintf("%.0f", float64(failed)/minutes), over.Sub(began).Round(time.Second).String(), fmt.Sprint(c.People), fmt.Sprint(most), fmt.Sprint(incidents), fmt.Sprint(messages), fmt.Sprint(waiting),
		fmt.Sprintf("%d, %d, %d MB", at.rss, first.rss, last.rss), fmt.Sprint(c.Healthy),
		ms(before50) + ", " + ms(before99), ms(during50) + ", " + ms(during99),
	}})
	return nil
}

// latenessOf is lateness of the jobs with one handler.
func (s *site) latenessOf(ctx context.Context, from, to time.Time, handler string) ([]time.Duration, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT l.id, l.job_id, l.planned_time FROM xxl_job_log l JOIN xxl_job_info i ON i.id = l.job_id
		WHERE l.planned_time >= ? AND l.planned_time < ? AND i.job_group = ? AND i.executor_handler = ?`, from.UnixMilli(), to.UnixMilli(), s.group, handler)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	rings := s.rings()
	var out []time.Duration
	for rows.Next() {
		var r runRow
		if err := rows.Scan(&r.ID, &r.Job, &r.Planned); err != nil {
			return nil, err
		}
		r.At = r.Planned / 1000
		if rung, ok := rings[r.call()]; ok {
			out = append(out, time.Duration(rung.first-r.Planned*1000)*time.Microsecond)
		}
	}
	return out, rows.Err()
}
