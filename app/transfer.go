package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/jobfile"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// withJobs opens a database whose schema is up to date for work on its jobs.
func withJobs(ctx context.Context, f DatabaseFlags, log *slog.Logger, do func(*jobs.Service) error) error {
	loc, err := f.location()
	if err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	st, err := openStore(ctx, f, "", quiet)
	if err != nil {
		return err
	}
	if err := prepareSchema(ctx, st, false, quiet); err != nil {
		return errors.Join(err, st.Close())
	}
	return errors.Join(do(jobs.New(jobs.Options{Store: st, Location: loc, Logger: log})), st.Close())
}

// atShell is who works at the command line.
func atShell() model.Actor { return model.Actor{Name: "command line", Admin: true} }

// plainError says an error of the use cases or of a file in words.
func plainError(l *i18n.Localizer, err error) error {
	if e, ok := errors.AsType[*jobfile.Error](err); ok {
		return errors.New(fileText(l, e))
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return errors.New(errorText(l, e))
	}
	return err
}

func fileText(l *i18n.Localizer, e *jobfile.Error) string {
	text := l.Error(e.Key, e.Args)
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return text
}

// ExportCmd writes jobs.
type ExportCmd struct {
	DatabaseFlags `embed:""`
	Executor      string `help:"App name of the one executor whose jobs are wanted." placeholder:"APP"`
	Search        string `help:"Only jobs that the search of the job list finds." placeholder:"TEXT"`
	Output        string `help:"File to write; - is the standard output." short:"o" default:"-"`
}

// Run writes the file.
func (c *ExportCmd) Run(ctx context.Context, log *slog.Logger, out *Output) error {
	texts, err := i18n.New("en")
	if err != nil {
		return err
	}
	return withJobs(ctx, c.DatabaseFlags, log, func(s *jobs.Service) error {
		f := model.JobFilter{Text: c.Search}
		if c.Executor != "" {
			page, err := s.Executors(ctx, atShell())
			if err != nil {
				return err
			}
			for _, g := range page.Rows {
				if strings.EqualFold(g.AppName, c.Executor) {
					f.GroupID = g.ID
				}
			}
			if f.GroupID == 0 {
				return fmt.Errorf("there is no executor with the app name %q", c.Executor)
			}
		}
		docs, err := s.ExportJobs(ctx, atShell(), f)
		if err != nil {
			return plainError(texts.Localizer("en"), err)
		}
		var b strings.Builder
		if err := jobfile.Write(&b, docs); err != nil {
			return err
		}
		if c.Output == "-" {
			_, err = io.WriteString(out.Out, b.String())
			return err
		}
		// Scripts may hold passwords. Beside the old file first, so that it is never half.
		if err := os.WriteFile(c.Output+".new", []byte(b.String()), 0o600); err != nil {
			return err
		}
		if err := os.Rename(c.Output+".new", c.Output); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out.Err, "%d jobs written to %s\n", len(docs), c.Output)
		return err
	})
}

// ImportCmd makes jobs as a file says.
type ImportCmd struct {
	File          string `arg:"" help:"File to read; - is the standard input."`
	DatabaseFlags `embed:""`
	DryRun        bool           `help:"Only say what would change."`
	Status        bool           `help:"Also start and stop jobs as the file says. Without it new jobs are stopped, and the others stay as they are."`
	Executor      map[int]string `help:"For JSON and SQL: which executor a number of the file is here, such as 1=my-app;2=other." placeholder:"NUMBER=APP"`
}

// Run prints job by job what changes, and changes it.
func (c *ImportCmd) Run(ctx context.Context, log *slog.Logger, out *Output) error {
	texts, err := i18n.New("en")
	if err != nil {
		return err
	}
	words := texts.Localizer("en")
	raw, err := c.read()
	if err != nil {
		return err
	}
	docs, err := jobfile.Read(raw, c.Executor)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, plainError(words, err))
	}
	return withJobs(ctx, c.DatabaseFlags, log, func(s *jobs.Service) error {
		o := jobs.ImportOptions{Status: c.Status}
		do := func() (jobs.ImportPlan, error) { return s.ImportJobs(ctx, atShell(), docs, o, "") }
		if c.DryRun {
			do = func() (jobs.ImportPlan, error) { return s.PlanImport(ctx, atShell(), docs, o) }
		}
		p, err := do()
		failed := p.Bad
		for i := range p.Items {
			it := &p.Items[i]
			printItem(out.Out, words, it)
			if it.Err != nil && it.Kind != jobs.ImportBad {
				failed++
			}
		}
		if err != nil && p.Bad == 0 {
			return plainError(words, err)
		}
		verb := "imported"
		if c.DryRun || p.Bad > 0 {
			verb = "nothing was changed"
		}
		fmt.Fprintf(out.Out, "%d new, %d changed, %d the same, %d not possible; %s\n", p.New, p.Changed, p.Same, failed, verb)
		if failed > 0 {
			return fmt.Errorf("%d jobs cannot be imported", failed)
		}
		return nil
	})
}

func (c *ImportCmd) read() ([]byte, error) {
	in := io.Reader(os.Stdin)
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, jobfile.MaxBytes+1))
}

// printItem prints a job and its fields, old → new; texts of many lines are cut.
func printItem(w io.Writer, l *i18n.Localizer, it *jobs.ImportItem) {
	fmt.Fprintf(w, "%-8s %s", it.Kind, it.Key)
	if it.Err != nil {
		fmt.Fprintf(w, " (line %d): %s", it.Line, plainError(l, it.Err))
	}
	fmt.Fprintln(w)
	if it.Kind == jobs.ImportSame {
		return
	}
	for _, c := range it.Changes {
		fmt.Fprintf(w, "         %s: %s → %s\n", c.Field, shown(c.Old), shown(c.New))
	}
}

func shown(text string) string {
	if text == "" {
		return "-"
	}
	const most = 80
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + fmt.Sprintf("… (%d characters)", len(runes))
	}
	return strings.ReplaceAll(text, "\n", "⏎")
}
