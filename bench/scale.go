package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ScaleCmd measures the cost of a scan beside many stored jobs.
type ScaleCmd struct {
	Jobs     []int         `help:"Stored jobs, one measurement each." default:"1000,100000,1000000"`
	Due      int           `help:"Of these, due each second." default:"100"`
	Duration time.Duration `help:"How long each." default:"30s"`
}

// Run measures each size on a site of its own.
func (c *ScaleCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	if flags.Center != "" {
		return errors.New("scale reads the metrics of our own center")
	}
	out.printf("### Scale: one scan beside many stored jobs, %d due each second\n\n", c.Due)
	var rows [][]string
	var first time.Duration
	for i, n := range c.Jobs {
		s, err := flags.open(ctx, siteNeeds{pool: 1024, seed: func(ctx context.Context, s *site) error { return storeJobs(ctx, s, n-c.Due) }})
		if err != nil {
			return err
		}
		if i == 0 {
			out.environment(ctx, s)
		}
		scan, cores, u, late, err := c.measure(ctx, s)
		if err = errors.Join(err, s.close(ctx)); err != nil {
			return err
		}
		if i == 0 {
			first = scan
		}
		rows = append(rows, []string{
			fmt.Sprint(n), ms(scan), fmt.Sprintf("%.2f", float64(scan)/float64(first)), fmt.Sprintf("%.3f", cores),
			fmt.Sprintf("%d MB", u.rss), fmt.Sprintf("%d MB", u.peak), ms(late),
		})
		fmt.Fprintln(os.Stderr, strings.Join(rows[len(rows)-1], " | "))
	}
	out.table([]string{"stored jobs", "one scan", "to the first", "center cores", "center memory", "peak", "late p99"}, rows)
	return nil
}

func (c *ScaleCmd) measure(ctx context.Context, s *site) (scan time.Duration, cores float64, u usage, late time.Duration, err error) {
	start := time.Now().Truncate(time.Second).Add(4 * time.Second)
	if err = addSteady(ctx, s, c.Due, start); err != nil {
		return
	}
	if err = pause(ctx, time.Until(start.Add(5*time.Second))); err != nil {
		return
	}
	n := s.nodes[0]
	passes1, took1, err := planned(ctx, n.url)
	if err != nil {
		return
	}
	began, before := time.Now(), used(n.pid())
	if err = pause(ctx, c.Duration); err != nil {
		return
	}
	passes2, took2, err := planned(ctx, n.url)
	if err != nil {
		return
	}
	u = used(n.pid())
	cores = (u.cpu - before.cpu) / time.Since(began).Seconds()
	list, err := s.lateness(ctx, began, time.Now().Add(-time.Second))
	if err != nil {
		return
	}
	return time.Duration((took2 - took1) / max(1, passes2-passes1) * float64(time.Second)), cores, u, percentile(list, 99), nil
}

// planned reads from the metrics how often the planner scanned and the seconds it took.
func planned(ctx context.Context, center string) (passes, seconds float64, err error) {
	body, err := get(ctx, center+"/metrics")
	if err != nil {
		return 0, 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch name {
		case `carillon_loop_seconds_count{loop="plan"}`:
			passes, err = strconv.ParseFloat(value, 64)
		case `carillon_loop_seconds_sum{loop="plan"}`:
			seconds, err = strconv.ParseFloat(value, 64)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if passes == 0 {
		return 0, 0, errors.New("the metrics say nothing of the planner")
	}
	return passes, seconds, nil
}

// storeJobs fills the table with jobs that fire some day: three of four wait for
// a far instant, one is stopped.
func storeJobs(ctx context.Context, s *site, n int) error {
	id, err := addGroup(ctx, s.db, "stored")
	if err != nil {
		return err
	}
	far := time.Now().Add(30 * 24 * time.Hour).UnixMilli()
	const part = 20000
	for done := 0; done < n; done += part {
		jobs := make([]jobRow, min(part, n-done))
		for i := range jobs {
			k := done + i
			jobs[i] = jobRow{
				name: fmt.Sprintf("stored %d", k), kind: "CRON", conf: "0 0 3 * * ?", misfire: "DO_NOTHING", route: "ROUND", handler: handlerCount,
				next: far + int64(k),
			}
			if k%4 != 0 {
				jobs[i].status = 1
			}
		}
		if _, err := insertJobs(ctx, s.db, id, jobs); err != nil {
			return err
		}
	}
	return nil
}
