package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// BatchCmd stops many jobs in the console at once, as an operator does, while others run.
type BatchCmd struct {
	Jobs   int           `help:"Jobs to stop and start again." default:"10000"`
	Rate   int           `help:"Runs per second that others make meanwhile." default:"300"`
	Before time.Duration `help:"How long their lateness is measured before." default:"20s"`
}

// batchWork is the state of a long batch as the page carries it from piece to piece.
var batchWork = regexp.MustCompile(`name="work" value="([^"]*)"`)

// Run measures how long a batch takes and what it does to the lateness of other jobs.
func (c *BatchCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	if flags.Center != "" {
		return errors.New("batch stops jobs of a center of its own")
	}
	s, err := flags.open(ctx, siteNeeds{pool: 1024})
	if err != nil {
		return err
	}
	err = c.measure(ctx, s, out)
	return errors.Join(err, s.close(ctx))
}

func (c *BatchCmd) measure(ctx context.Context, s *site, out *Report) error {
	next := time.Now().UTC().Truncate(time.Minute).Add(12 * time.Hour) // none of them fires meanwhile
	jobs := make([]jobRow, c.Jobs)
	for i := range jobs {
		jobs[i] = jobRow{
			name: fmt.Sprintf("picked %d", i), kind: "CRON", conf: fmt.Sprintf("0 %d %d * * ?", next.Minute(), next.Hour()), misfire: "DO_NOTHING",
			route: "ROUND", handler: handlerCount, status: 1, next: next.UnixMilli(),
		}
	}
	if _, err := insertJobs(ctx, s.db, s.group, jobs); err != nil {
		return err
	}
	if err := addSteady(ctx, s, c.Rate, time.Now().Truncate(time.Second).Add(3*time.Second)); err != nil {
		return err
	}
	if err := pause(ctx, 10*time.Second); err != nil {
		return err
	}
	quiet := time.Now()
	if err := pause(ctx, c.Before); err != nil {
		return err
	}
	client, err := login(ctx, s.nodes[0].url)
	if err != nil {
		return err
	}
	var rows [][]string
	var spans [][2]time.Time
	for _, do := range []string{"stop", "start", "stop", "start"} { // often enough for a p99
		began := time.Now()
		pieces, longest, err := c.all(ctx, client, s.nodes[0].url, do)
		if err != nil {
			return err
		}
		spans = append(spans, [2]time.Time{began, time.Now()})
		rows = append(rows, []string{do, fmt.Sprint(c.Jobs), ms(time.Since(began)), fmt.Sprint(pieces), ms(longest)})
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return err
	}
	before, err := s.lateness(ctx, quiet, spans[0][0])
	if err != nil {
		return err
	}
	during, err := s.lateness(ctx, spans[0][0], spans[len(spans)-1][1])
	if err != nil {
		return err
	}
	out.printf("### Batch: %d jobs stopped and started in the console\n\n", c.Jobs)
	out.environment(ctx, s)
	out.table([]string{"what", "jobs", "took", "pieces", "longest piece"}, rows)
	out.printf("Lateness of %d runs per second of other jobs: before p50 %s, p99 %s; meanwhile p50 %s, p99 %s.\n", c.Rate,
		ms(percentile(before, 50)), ms(percentile(before, 99)), ms(percentile(during, 50)), ms(percentile(during, 99)))
	return nil
}

// all does something to all jobs that are picked by their name, piece by piece as the
// page does it.
func (c *BatchCmd) all(ctx context.Context, client *http.Client, center, do string) (pieces int, longest time.Duration, err error) {
	form := url.Values{"do": {do}, "all": {"1"}, "filter": {"q=picked"}}
	for {
		began := time.Now()
		body, err := c.post(ctx, client, center+"/jobs/batch", form)
		if err != nil {
			return pieces, longest, err
		}
		pieces, longest = pieces+1, max(longest, time.Since(began))
		if !strings.Contains(body, "data-batch-progress") {
			if want := fmt.Sprintf("%d", c.Jobs); !strings.Contains(strings.ReplaceAll(body, ",", ""), want) {
				return pieces, longest, fmt.Errorf("%s: the page does not say that %s jobs were done", do, want)
			}
			return pieces, longest, nil
		}
		work := batchWork.FindStringSubmatch(body)
		if work == nil {
			return pieces, longest, errors.New("the page does not say what is left to do")
		}
		form = url.Values{"work": {html.UnescapeString(work[1])}}
	}
}

func (c *BatchCmd) post(ctx context.Context, client *http.Client, address string, form url.Values) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("HX-Request", "true")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", address, resp.Status)
	}
	return string(body), err
}
