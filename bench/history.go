package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"time"
)

// HistoryCmd measures the pages with a long history.
type HistoryCmd struct {
	Runs int `help:"Stored runs, of 30 days." default:"10000000"`
	Jobs int `help:"Stored jobs; the runs are those of a thousand of them." default:"100000"`
	Asks int `help:"How often each page is asked for." default:"15"`
}

// Run fills the table and asks for pages.
func (c *HistoryCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	if flags.Center != "" {
		return errors.New("history fills the run table of a center of its own")
	}
	s, err := flags.open(ctx, siteNeeds{pool: 2048, args: []string{"--retention-days", "0"}})
	if err != nil {
		return err
	}
	err = c.measure(ctx, s, out)
	return errors.Join(err, s.close(ctx))
}

func (c *HistoryCmd) measure(ctx context.Context, s *site, out *Report) error {
	began := time.Now()
	if err := c.fill(ctx, s); err != nil {
		return err
	}
	out.printf("### History: pages with %d stored runs and %d jobs\n\n", c.Runs, c.Jobs)
	out.environment(ctx, s)
	out.printf("Filling the table took %s.\n", ms(time.Since(began)))
	if err := s.db.QueryRowContext(ctx, `SELECT MAX(id) FROM xxl_job_log`).Scan(&s.since); err != nil {
		return err
	}
	// The center goes on working while it is asked.
	if err := addSteady(ctx, s, 100, time.Now().Truncate(time.Second).Add(3*time.Second)); err != nil {
		return err
	}
	if err := pause(ctx, 8*time.Second); err != nil {
		return err
	}
	client, err := login(ctx, s.nodes[0].url)
	if err != nil {
		return err
	}
	day := time.Now().UTC().AddDate(0, 0, -12).Format(time.DateOnly)
	var rows [][]string
	const row, jobLine = `data-testid="run-row"`, `data-testid="job-row"` // a page without what was asked for is no answer
	for _, page := range []struct{ name, path, shows string }{
		{"dashboard", "/", `data-testid="ledger"`},
		{"run list, newest", "/runs", row},
		{"run list, from the middle", fmt.Sprintf("/runs?before=%d", c.Runs/2), row},
		{"run list of one job", "/runs?job=17", row},
		{"run list, failed (the fail scan)", "/runs?status=failed", row},
		{"run list, in progress", "/runs?status=open", ""},
		{"run list, missed", "/runs?status=missed", ""},
		{"run list of one job, failed", "/runs?job=17&status=failed", ""},
		{"run list of one day", "/runs?from=" + day + "T00:00&to=" + day + "T23:59", row},
		{"one run", fmt.Sprintf("/runs/%d", c.Runs/2), "http://127.0.0.1:9999"},
		{"run list, one line of each day's failures", "/runs?preset=week&status=failed", ""},
		{"run list, a text", "/runs?q=steady", ""},
		{"run list, by trigger", "/runs?trigger=MANUAL", ""},
		{"timeline of a day", "/timeline", `data-testid="lane"`},
		{"timeline of an hour, by address", "/timeline?span=1h&by=address", `data-testid="lane"`},
		{"load of the next day", "/timeline/load", `data-testid="load"`},
		{"job list", "/jobs?all=1", jobLine},
		{"job list, by name", "/jobs?sort=name", jobLine},
		{"job list, by last run", "/jobs?sort=last", jobLine},
		{"job list, by duration", "/jobs?sort=duration", jobLine},
		{"job list, a text", "/jobs?q=old+77", jobLine},
		{"job list, running", "/jobs?status=running", jobLine},
		{"job list, failing", "/jobs?status=failing", ""},
		{"job page", "/jobs/17", `data-testid="job-strip"`},
		{"job form", "/jobs/17/edit", `name="param"`},
		{"search (Ctrl-K)", "/search?q=old", ""},
		{"executors", "/executors", ""},
		{"system", "/system", ""},
		{"audit", "/audit", ""},
	} {
		first, p50, most, err := c.ask(ctx, client, s.nodes[0].url+page.path, page.shows)
		if err != nil {
			return fmt.Errorf("%s: %w", page.name, err)
		}
		rows = append(rows, []string{page.name, "`" + page.path + "`", ms(first), ms(p50), ms(most)})
		fmt.Fprintln(os.Stderr, strings.Join(rows[len(rows)-1], " | "))
	}
	out.table([]string{"page", "address", "first", "p50", "max"}, rows)
	late, err := s.lateness(ctx, began.Add(time.Since(began)-5*time.Second), time.Now().Add(-time.Second))
	if err != nil {
		return err
	}
	u := used(s.nodes[0].pid())
	out.printf("Meanwhile 100 runs per second were made: late p50 %s, p99 %s, max %s; center memory %d MB, peak %d MB.\n",
		ms(percentile(late, 50)), ms(percentile(late, 99)), ms(percentile(late, 100)), u.rss, u.peak)
	return nil
}

// ask gets a page again and again.
func (c *HistoryCmd) ask(ctx context.Context, client *http.Client, address, shows string) (first, p50, most time.Duration, err error) {
	var list []time.Duration
	for i := range c.Asks {
		began := time.Now()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return 0, 0, 0, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, 0, 0, err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(body), `name="password"`) {
			return 0, 0, 0, fmt.Errorf("%s answers %s: %w", address, resp.Status, err)
		}
		if !strings.Contains(string(body), shows) {
			return 0, 0, 0, fmt.Errorf("%s does not show %s", address, shows)
		}
		if took := time.Since(began); i == 0 {
			first = took
		} else {
			list = append(list, took)
		}
	}
	return first, percentile(list, 50), percentile(list, 100), nil
}

// login gives a client with a session of the administrator.
func login(ctx context.Context, center string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Jar: jar, Timeout: 5 * time.Minute}
	form := url.Values{"name": {"admin"}, "password": {adminPassword}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, center+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	return client, resp.Body.Close()
}

// fill writes runs of a thousand jobs over 30 days, 10,000 in one statement.
func (c *HistoryCmd) fill(ctx context.Context, s *site) error {
	jobs := make([]jobRow, max(1000, c.Jobs))
	next := time.Now().UTC().Truncate(time.Minute).Add(12 * time.Hour) // none of them fires meanwhile
	daily := fmt.Sprintf("0 %d %d * * ?", next.Minute(), next.Hour())
	for i := range jobs {
		jobs[i] = jobRow{name: fmt.Sprintf("old %d", i), kind: "CRON", conf: daily, status: i % 2, next: next.UnixMilli(), misfire: "DO_NOTHING", route: "ROUND", handler: handlerCount}
	}
	ids, err := insertJobs(ctx, s.db, s.group, jobs)
	if err != nil {
		return err
	}
	const part = 10000
	digits := "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	statement := fmt.Sprintf(`INSERT INTO xxl_job_log (job_group, job_id, executor_address, executor_handler, executor_fail_retry_count,
		trigger_time, trigger_code, trigger_msg, handle_time, handle_code, handle_msg, alarm_status, run_state, planned_time, trigger_type, owner)
		SELECT %d, %d + n %% 1000, 'http://127.0.0.1:9999', 'count', 0, ?, 200, '', ?, CASE WHEN n = ? THEN 500 ELSE 200 END, 'done', 0, 5, ? + n, 'CRON', 'n1#1'
		FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n FROM %s a, %s b, %s c, %s e) AS numbers ORDER BY n`, s.group, ids[0], digits, digits, digits, digits)
	start := time.Now().UTC().AddDate(0, 0, -30)
	step := 30 * 24 * time.Hour / time.Duration(max(1, c.Runs/part))
	for i := range c.Runs / part {
		at := start.Add(time.Duration(i) * step)
		failed := -1
		if i%2 == 0 { // one of 20,000
			failed = i * 7919 % part
		}
		if _, err := s.db.ExecContext(ctx, statement, at.Format(time.DateTime), at.Format(time.DateTime), failed, at.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}
