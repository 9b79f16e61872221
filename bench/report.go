package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Report prints tables in Markdown.
type Report struct {
	out     io.Writer
	command string
}

// environment says on what the figures were made.
func (r *Report) environment(ctx context.Context, s *site) {
	database := "SQLite (modernc.org/sqlite, WAL)"
	var version string
	if strings.HasPrefix(s.database, "mysql:") {
		if err := s.db.QueryRowContext(ctx, `SELECT VERSION()`).Scan(&version); err == nil {
			database = version
		}
		var flush string
		if err := s.db.QueryRowContext(ctx, `SELECT @@innodb_flush_log_at_trx_commit`).Scan(&flush); err == nil {
			database += ", innodb_flush_log_at_trx_commit = " + flush
		}
	}
	commit, _ := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	center := fmt.Sprintf("%d node(s) of commit %s", len(s.nodes), strings.TrimSpace(string(commit)))
	if s.flags.Center != "" {
		center = s.flags.Center
	}
	r.printf("`%s`\n\n%s; %s, %d cores, %s; %s; %s; center: %s; %d executors.\n",
		r.command, time.Now().UTC().Format("2006-01-02 15:04 UTC"), cpuModel(), runtime.NumCPU(), memory(), runtime.Version(), database, center, len(s.counters))
}

func (r *Report) printf(format string, args ...any) { fmt.Fprintf(r.out, format, args...) }

// table prints a header and rows of cells.
func (r *Report) table(header []string, rows [][]string) {
	r.printf("\n| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	for _, row := range rows {
		r.printf("| %s |\n", strings.Join(row, " | "))
	}
	r.printf("\n")
}

func cpuModel() string {
	if v := firstLine("/proc/cpuinfo", "model name"); v != "" {
		return v
	}
	return runtime.GOARCH
}

func memory() string {
	var kb int
	if _, err := fmt.Sscanf(firstLine("/proc/meminfo", "MemTotal"), "%d kB", &kb); err != nil {
		return "memory unknown"
	}
	return fmt.Sprintf("%d GiB", (kb+1<<19)>>20)
}

func firstLine(file, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func ms(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	if d < 10*time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
