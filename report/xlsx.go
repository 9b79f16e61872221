package report

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/carillon-scheduler/carillon/model"
)

// Book is a report as it is written into a workbook.
type Book struct {
	Report *Report
	// Title and Sentence are its first lines, Zone names the zone of its days.
	Title, Sentence, Zone string
	// Before names what the period is compared with.
	Before string
	// Job gives name, executor and owner of a job.
	Job func(id int) (name, executor, owner string)
	// Targets are how targets stand in Month; without any there is no sheet of them. About names
	// what one is about.
	Targets []model.TargetResult
	Month   Period
	About   func(model.TargetResult) string
	// Reason says a reason in words.
	Reason func(code string) string
	// T gives a text by its key.
	T func(key string, kv ...any) string
}

// cellLimit is how many characters a cell takes.
const cellLimit = 32_767

// column is one of a sheet: the key of its head, and how wide it is in characters.
type column struct {
	key   string
	width float64
	style string // "", count, percent, finer, took or date
}

// WriteXLSX writes a report as a workbook: a summary, its days, its jobs and what the
// numbers mean. Numbers, days and durations are what they are; texts are texts, so a job
// called =1+1 stays one.
func WriteXLSX(w io.Writer, b Book) error {
	f := excelize.NewFile()
	defer func() { _ = f.Close() }() // nothing is kept on disk
	styles, err := newStyles(f)
	if err != nil {
		return err
	}
	for i, part := range []struct {
		key   string
		write func(*sheet) error
	}{{"summary", b.summary}, {"days", b.days}, {"jobs", b.jobs}, {"targets", b.targets}, {"definitions", b.definitions}} {
		key := part.key
		if key == "targets" && len(b.Targets) == 0 {
			continue
		}
		name := b.T("report.sheet." + key)
		if i == 0 {
			err = f.SetSheetName("Sheet1", name)
		} else {
			_, err = f.NewSheet(name)
		}
		if err != nil {
			return err
		}
		stream, err := f.NewStreamWriter(name)
		if err != nil {
			return err
		}
		if err := part.write(&sheet{stream: stream, styles: styles, t: b.T}); err != nil {
			return fmt.Errorf("sheet %s: %w", key, err)
		}
		if err := stream.Flush(); err != nil {
			return err
		}
	}
	return f.Write(w)
}

type styles map[string]int

func newStyles(f *excelize.File) (styles, error) {
	text := func(format string) *excelize.Style { return &excelize.Style{CustomNumFmt: &format} }
	out := styles{}
	for name, style := range map[string]*excelize.Style{
		"head": {Font: &excelize.Font{Bold: true}}, "count": text("#,##0"), "percent": text("0.00%"), "finer": text("0.###%"), "took": text("[h]:mm:ss.000"), "date": text("yyyy-mm-dd"),
		"wrap": {Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}},
	} {
		id, err := f.NewStyle(style)
		if err != nil {
			return nil, err
		}
		out[name] = id
	}
	return out, nil
}

// sheet writes rows one after the other.
type sheet struct {
	stream *excelize.StreamWriter
	styles styles
	t      func(key string, kv ...any) string
	rows   int
	cols   []column
}

// head writes the names of the columns, which stay in sight.
func (s *sheet) head(cols ...column) error {
	s.cols = cols
	cells := make([]any, len(cols))
	for i, c := range cols {
		if err := s.stream.SetColWidth(i+1, i+1, c.width); err != nil {
			return err
		}
		cells[i] = excelize.Cell{StyleID: s.styles["head"], Value: s.t(c.key)}
	}
	if err := s.stream.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	return s.write(cells)
}

// line writes a row whose cells have the styles of their columns.
func (s *sheet) line(values ...any) error {
	cells := make([]any, len(values))
	for i, v := range values {
		if text, ok := v.(string); ok {
			if r := []rune(text); len(r) > cellLimit {
				v = string(r[:cellLimit-1]) + "…"
			}
		}
		cells[i] = excelize.Cell{StyleID: s.styles[s.cols[i].style], Value: v}
	}
	return s.write(cells)
}

func (s *sheet) write(cells []any) error {
	s.rows++
	return s.stream.SetRow(fmt.Sprintf("A%d", s.rows), cells)
}

// share is a part as a number between 0 and 1, or nothing.
func share(part, whole int64) any {
	if whole <= 0 {
		return nil
	}
	return float64(part) / float64(whole)
}

// shareThen is the success rate with which another is compared: of a day the usual one.
func shareThen(then *model.Counter, u *model.Usual) any {
	if u.Known() && then.Rated() > 0 {
		return u.Rate.Median / 100
	}
	return share(then.Succeeded, then.Rated())
}

// took is a duration as spreadsheets have it, in days; nothing when it is not known.
func took(ms int64) any {
	if ms < 0 {
		return nil
	}
	return float64(ms) / float64(24*time.Hour/time.Millisecond)
}

func (b Book) summary(s *sheet) error {
	s.cols = []column{{width: 34}, {width: 22, style: "count"}, {width: 22, style: "count"}}
	for i, c := range s.cols {
		if err := s.stream.SetColWidth(i+1, i+1, c.width); err != nil {
			return err
		}
	}
	r := b.Report
	for _, text := range []string{b.Title, b.Sentence, b.Zone} {
		if err := s.write([]any{excelize.Cell{StyleID: s.styles["head"], Value: text}}); err != nil {
			return err
		}
	}
	days := r.Period.First.Format(time.DateOnly) + " – " + r.Period.Last.Format(time.DateOnly)
	if err := s.write([]any{nil, excelize.Cell{StyleID: s.styles["head"], Value: days}, excelize.Cell{StyleID: s.styles["head"], Value: b.Before}}); err != nil {
		return err
	}
	for _, x := range []struct {
		key string
		of  func(*model.Counter) int64
	}{
		{"planned", func(c *model.Counter) int64 { return c.Expected }}, {"succeeded", func(c *model.Counter) int64 { return c.Succeeded }},
		{"rescued", func(c *model.Counter) int64 { return c.Rescued }}, {"failed", func(c *model.Counter) int64 { return c.Failed }},
		{"missed", func(c *model.Counter) int64 { return c.Missed }}, {"excused", func(c *model.Counter) int64 { return c.Excused }},
		{"open", func(c *model.Counter) int64 { return c.Open() }}, {"late", func(c *model.Counter) int64 { return c.Late }},
	} {
		if err := s.line(b.T("report.x."+x.key), x.of(r.Now), x.of(r.Then)); err != nil {
			return err
		}
	}
	s.cols[1].style, s.cols[2].style = "percent", "percent"
	if err := s.line(b.T("report.x.rate"), share(r.Now.Succeeded, r.Now.Rated()), shareThen(r.Then, r.Usual)); err != nil {
		return err
	}
	s.cols[1].style, s.cols[2].style = "took", "took"
	for _, q := range []struct {
		key string
		at  float64
	}{{"p50", 0.5}, {"p95", 0.95}} {
		if err := s.line(b.T("report.x."+q.key), took(r.Now.Took.Quantile(q.at)), took(r.Then.Took.Quantile(q.at))); err != nil {
			return err
		}
	}
	s.cols[1].style, s.cols[2].style = "count", "count"
	for _, info := range model.Reasons() {
		if n := r.Now.Lines[info.Code]; n != 0 {
			if err := s.line(b.Reason(info.Code), n, r.Then.Lines[info.Code]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b Book) days(s *sheet) error {
	if err := s.head(column{"report.x.first_day", 14, "date"}, column{"report.x.planned", 12, "count"}, column{"report.x.succeeded", 12, "count"}, column{"report.x.rescued", 12, "count"},
		column{"report.x.failed", 12, "count"}, column{"report.x.missed", 12, "count"}, column{"report.x.open", 12, "count"}, column{"report.x.late", 12, "count"}, column{"report.x.rate", 12, "percent"}); err != nil {
		return err
	}
	for _, c := range b.Report.Trend {
		day, err := time.Parse(time.DateOnly, c.Start)
		if err != nil {
			return err
		}
		if err := s.line(day, c.Expected, c.Succeeded, c.Rescued, c.Failed, c.Missed, c.Open(), c.Late, share(c.Succeeded, c.Rated())); err != nil {
			return err
		}
	}
	return nil
}

func (b Book) jobs(s *sheet) error {
	if err := s.head(column{"report.x.job_id", 9, ""}, column{"report.col.job", 36, ""}, column{"report.x.executor", 24, ""}, column{"report.x.owner", 18, ""},
		column{"report.x.planned", 11, "count"}, column{"report.x.succeeded", 11, "count"}, column{"report.x.rescued", 11, "count"}, column{"report.x.failed", 11, "count"},
		column{"report.x.missed", 11, "count"}, column{"report.x.excused", 11, "count"}, column{"report.x.open", 11, "count"}, column{"report.x.late", 11, "count"},
		column{"report.x.rate", 11, "percent"}, column{"report.x.rate_before", 14, "percent"},
		column{"report.x.average", 15, "took"}, column{"report.x.p50", 15, "took"}, column{"report.x.p95", 15, "took"}, column{"report.x.p95_before", 15, "took"}); err != nil {
		return err
	}
	for _, l := range b.Report.Jobs {
		name, executor, owner := b.Job(l.JobID)
		c := l.Now
		average := int64(-1)
		if c.TookRuns > 0 {
			average = c.TookMS / c.TookRuns
		}
		err := s.line(fmt.Sprint(l.JobID), name, executor, owner, c.Expected, c.Succeeded, c.Rescued, c.Failed, c.Missed, c.Excused, c.Open(), c.Late,
			share(c.Succeeded, c.Rated()), shareThen(l.Then, l.Usual), took(average), took(c.Took.Quantile(0.5)), took(c.Took.Quantile(0.95)), took(l.Then.Took.Quantile(0.95)))
		if err != nil {
			return err
		}
	}
	return nil
}

// targets writes how each target stands: what it asks for, and what may still be lost. What was
// lost of nothing has no share.
func (b Book) targets(s *sheet) error {
	if err := s.head(column{"target.col.name", 30, ""}, column{"target.about", 30, ""}, column{"report.x.month", 12, "date"}, column{"target.col.goal", 11, "finer"}, column{"target.field.by", 12, ""},
		column{"target.x.rated", 14, "count"}, column{"target.x.good", 14, "count"}, column{"target.col.lost", 12, "count"}, column{"target.col.reached", 12, "finer"},
		column{"target.col.left", 16, "count"}, column{"target.x.burn", 16, "percent"}); err != nil {
		return err
	}
	for _, t := range b.Targets {
		var left, burn any
		if t.Rated > 0 {
			left = t.Left()
			if part := t.Burn(); !math.IsInf(part, 0) {
				burn = part
			}
		}
		if err := s.line(t.Name, b.About(t), b.Month.First, float64(t.Goal)/model.GoalWhole, t.By, t.Rated, t.Good, t.Lost(), share(t.Good, t.Rated), left, burn); err != nil {
			return err
		}
	}
	return nil
}

// Definitions are the numbers that a report explains.
func Definitions() []string {
	return []string{"planned", "rate", "excused", "late", "rescued", "took", "day", "compared"}
}

func (b Book) definitions(s *sheet) error {
	s.cols = []column{{width: 20}, {width: 110, style: "wrap"}}
	for i, c := range s.cols {
		if err := s.stream.SetColWidth(i+1, i+1, c.width); err != nil {
			return err
		}
	}
	for _, name := range Definitions() {
		if err := s.line(b.T("report.def."+name), b.T("report.def."+name+"_text")); err != nil {
			return err
		}
	}
	return nil
}
