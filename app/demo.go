package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// DemoCmd runs everything in one process, to have a look.
type DemoCmd struct {
	Listen         string `help:"Address of the console; when the default is taken one of the next ports." default:"127.0.0.1:8080"`
	ExecutorListen string `help:"Address of the first sample executor; the second takes the next port. When one is taken a port after it." default:"127.0.0.1:9999"`
	Data           string `help:"Folder for the database and the executors." default:"carillon-demo"`
	Lang           string `help:"Language for people whose browser asks for none of ours." enum:"zh-Hans,zh-Hant,en" default:"zh-Hans"`
}

const (
	demoApp    = "carillon-sample"
	demoListen = "127.0.0.1:8080" // the default of Listen
)

// Run shows the demo until the context ends.
func (c *DemoCmd) Run(ctx context.Context, log *slog.Logger, out *Output) error {
	demo, err := StartDemo(ctx, *c, log)
	if err != nil {
		return err
	}
	fmt.Fprint(out.Out, demo.welcome(*c))
	err = demo.Center.Wait(ctx)
	return errors.Join(err, demo.Stop(ctx))
}

// welcome says where everything is and what to look at first.
func (d *Demo) welcome(c DemoCmd) string {
	var b strings.Builder
	note := ""
	if at := strings.Trim(strings.TrimPrefix(d.URL, "http://"), "/"); c.Listen == demoListen && at != demoListen {
		note = "   (" + demoListen + " is taken)"
	}
	fmt.Fprintf(&b, "\n  Carillon demo   %s%s\n  user            admin\n  password        %s\n\n  Look first at\n", d.URL, note, d.Password)
	for _, p := range []struct{ path, what string }{
		{"", "the account of the day: expected, made, open, missed and why"},
		{"jobs", "six sample jobs, each with its last runs and its next fire"},
		{"runs", "every run; open one to see when it was planned, sent, taken and finished, and its log"},
		{"executors", "the two sample executors"},
	} {
		fmt.Fprintf(&b, "    %-36s %s\n", d.URL+p.path, p.what)
	}
	fmt.Fprintf(&b, "\n  Executors listen on %s. Data is in %s; Ctrl+C ends the demo.\n\n", strings.Join(d.listening, " and "), c.Data)
	return b.String()
}

// Demo is a center with two sample executors in one process.
type Demo struct {
	*Center
	Password  string
	executors []*executor.Executor
	listening []string // where the executors are
	note      string   // the file that says where the demo of this folder answers
}

// StartDemo starts the center on an embedded database and the executors, and
// fills an empty database with sample jobs.
func StartDemo(ctx context.Context, c DemoCmd, log *slog.Logger) (*Demo, error) {
	if err := os.MkdirAll(c.Data, 0o750); err != nil {
		return nil, fmt.Errorf("folder of the demo: %w", err)
	}
	password, err := secret(filepath.Join(c.Data, "password"))
	if err != nil {
		return nil, err
	}
	token, err := secret(filepath.Join(c.Data, "token"))
	if err != nil {
		return nil, err
	}
	note := filepath.Join(c.Data, "address")
	if at := answering(ctx, note); at != "" {
		return nil, fmt.Errorf("a demo works in %s already: %s, user admin, password %s; --data starts another one", c.Data, at, password)
	}
	listen := c.Listen
	if listen == demoListen {
		l, err := listenNear("127.0.0.1", 8080)
		if err != nil {
			return nil, err
		}
		listen = l.Addr().String()
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	center, err := Start(ctx, ServeCmd{
		Listen: listen, DatabaseFlags: DatabaseFlags{Database: "sqlite:" + filepath.Join(c.Data, "carillon.db"), Timezone: "Local"},
		AccessToken: token, AdminPassword: password, BasePath: "/", Lang: c.Lang, Migrate: true, LegacyConsole: true, RetentionDays: 30,
		RegistryTimeout: 90 * time.Second, ExecutorTimeout: 3 * time.Second,
	}, log)
	if err != nil {
		return nil, err
	}
	d := &Demo{Center: center, Password: password, note: note}
	err = os.WriteFile(note, []byte(d.URL), 0o600)
	if err == nil {
		err = d.fill(ctx, c, token, log)
	}
	if err != nil {
		return nil, errors.Join(err, d.Stop(ctx))
	}
	return d, nil
}

// answering gives the address in the file when a center answers there. Ports are
// free to choose, so they cannot tell that a second demo is about to use the data
// of a running one.
func answering(ctx context.Context, note string) string {
	at, err := os.ReadFile(note)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, string(at)+"healthz", nil)
	if err != nil {
		return ""
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64))
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), "ok") {
		return ""
	}
	return string(at)
}

// nearPorts is how many ports are tried before any free one is taken.
const nearPorts = 20

// listenNear listens on the port or on one soon after it that is free; 0 = any.
func listenNear(host string, port int) (net.Listener, error) {
	for n := port; port != 0 && n < min(port+nearPorts, 1<<16); n++ {
		if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(n))); err == nil {
			return l, nil
		}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", host, errors.Unwrap(err))
	}
	return l, nil
}

func (d *Demo) fill(ctx context.Context, c DemoCmd, token string, log *slog.Logger) error {
	host, text, err := net.SplitHostPort(c.ExecutorListen)
	if err != nil {
		return fmt.Errorf("--executor-listen %q: give host:port", c.ExecutorListen)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("--executor-listen %q: the port must be a number", c.ExecutorListen)
	}
	group, err := d.group(ctx)
	if err != nil {
		return err
	}
	for i := range 2 {
		listener, err := listenNear(host, port)
		if err != nil {
			return err
		}
		if port != 0 {
			port = listener.Addr().(*net.TCPAddr).Port + 1
		}
		address := listener.Addr().String()
		ex, err := executor.New(executor.Options{
			Centers: []string{d.URL}, AppName: demoApp, Version: Version(), AccessToken: token, Listener: listener,
			DataDir: filepath.Join(c.Data, fmt.Sprintf("executor-%d", i+1)), Logger: log.With("part", "executor", "address", address),
			StopTimeout: 3 * time.Second,
		})
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		executor.RegisterSamples(ex)
		if err := ex.Start(ctx); err != nil {
			return err
		}
		d.executors, d.listening = append(d.executors, ex), append(d.listening, address)
	}
	return d.sampleJobs(ctx, group)
}

func (d *Demo) group(ctx context.Context) (int, error) {
	page, err := d.Jobs.Executors(ctx, demoActor())
	if err != nil {
		return 0, err
	}
	for _, row := range page.Rows {
		if row.AppName == demoApp {
			return row.ID, nil
		}
	}
	return d.Jobs.AddExecutor(ctx, demoActor(), jobs.ExecutorInput{AppName: demoApp, Title: "Sample executor"})
}

func demoActor() model.Actor { return model.Actor{Name: "demo", Admin: true} }

// sampleJobs fills an empty database: one job of each kind that a newcomer
// wants to see, all running.
func (d *Demo) sampleJobs(ctx context.Context, group int) error {
	page, err := d.Jobs.ListJobs(ctx, demoActor(), model.JobFilter{Limit: 1})
	if err != nil || page.Total > 0 {
		return err
	}
	sample := func(name string, t model.ScheduleType, conf string, change func(*jobs.JobInput)) (int, error) {
		in := jobs.NewJobInput()
		in.GroupID, in.Name, in.Author, in.ScheduleType, in.ScheduleConf = group, name, "demo", t, conf
		change(&in)
		return d.Jobs.AddJob(ctx, demoActor(), in)
	}
	child, err := sample("After hello", model.ScheduleNone, "", func(in *jobs.JobInput) { in.Handler = "demo.child" })
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name, conf string
		kind       model.ScheduleType
		change     func(*jobs.JobInput)
	}{
		{"Hello every 5 s", "*/5 * * * * ?", model.ScheduleCron, func(in *jobs.JobInput) {
			in.Handler, in.Param, in.Route = "demo.hello", "Carillon", model.RouteRound
		}},
		{"Hello, then a child", "0/30 * * * * ?", model.ScheduleCron, func(in *jobs.JobInput) {
			in.Handler, in.Param, in.ChildIDs = "demo.hello", "parent", strconv.Itoa(child)
		}},
		{"Shell script every 10 s", "10", model.ScheduleFixRate, func(in *jobs.JobInput) {
			in.GlueType, in.GlueSource, in.GlueRemark = model.GlueShell, demoScript, "sample script"
		}},
		{"Broadcast to every executor", "15/20 * * * * ?", model.ScheduleCron, func(in *jobs.JobInput) {
			in.Handler, in.Route = "demo.shard", model.RouteBroadcast
		}},
		{"Fails on purpose", "0 * * * * ?", model.ScheduleCron, func(in *jobs.JobInput) {
			in.Handler, in.RetryCount = "demo.fail", 1
		}},
	} {
		id, err := sample(s.name, s.kind, s.conf, s.change)
		if err != nil {
			return fmt.Errorf("sample job %q: %w", s.name, err)
		}
		if err := d.Jobs.StartJob(ctx, demoActor(), id); err != nil {
			return fmt.Errorf("start sample job %q: %w", s.name, err)
		}
	}
	return nil
}

const demoScript = `#!/bin/bash
echo "parameter: $1, shard $2 of $3"
for step in one two three; do
  echo "step $step on $(uname -sn)"
  sleep 0.5
done
`

// Stop ends the executors, then the center.
func (d *Demo) Stop(ctx context.Context) error {
	var err error
	for _, ex := range d.executors {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		err = errors.Join(err, ex.Stop(limit))
		cancel()
	}
	return errors.Join(err, d.Center.Stop(ctx), os.Remove(d.note))
}

// secret reads a secret from a file, or makes one up and writes it there.
func secret(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err == nil {
		return string(b), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	s := jobs.NewPassword()
	return s, os.WriteFile(file, []byte(s), 0o600)
}
