package app_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jhillyerd/enmime/v2"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// postOffice is an SMTP server that keeps what it gets.
type postOffice struct {
	mu    sync.Mutex
	mails []letter
	addr  string
}

type letter struct {
	to  string
	raw string
	*enmime.Envelope
}

func openPostOffice(t *testing.T) *postOffice {
	t.Helper()
	o := &postOffice{}
	s := smtp.NewServer(o)
	s.Domain, s.AllowInsecureAuth = "localhost", true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o.addr = l.Addr().String()
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return o
}

func (o *postOffice) NewSession(*smtp.Conn) (smtp.Session, error) { return &desk{office: o}, nil }

func (o *postOffice) got() []letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]letter(nil), o.mails...)
}

type desk struct {
	office *postOffice
	to     string
}

func (d *desk) Mail(string, *smtp.MailOptions) error { return nil }
func (d *desk) Rcpt(to string, _ *smtp.RcptOptions) error {
	d.to = to
	return nil
}
func (d *desk) Reset()        {}
func (d *desk) Logout() error { return nil }
func (d *desk) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	d.office.mu.Lock()
	defer d.office.mu.Unlock()
	env, err := enmime.ReadEnvelope(strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	d.office.mails = append(d.office.mails, letter{d.to, string(raw), env})
	return nil
}

// TestAFailedRunIsTold: a mail when the job fails, none while it goes on failing, and one
// when it is well again; both are one thread.
func TestAFailedRunIsTold(t *testing.T) {
	office := openPostOffice(t)
	cfg := testConfig(t)
	cfg.SmtpURL, cfg.MailFrom = "smtp://"+office.addr+"?tls=none", "Carillon <carillon@example.org>"
	c := start(t, cfg)
	group, err := c.Jobs.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "test-app", Title: "Test"})
	require.NoError(t, err)
	in := jobs.NewJobInput()
	in.GroupID, in.Name, in.Author, in.ScheduleType, in.Handler, in.AlarmEmail = group, "Settlement", "ops", model.ScheduleNone, "h", "oncall@example.org"
	job, err := c.Jobs.AddJob(t.Context(), admin(), in)
	require.NoError(t, err)
	w := startWorker(t, token, c.URL)
	w.fail(io.ErrUnexpectedEOF)
	require.Eventually(t, func() bool { return len(listed(t, c, group)) == 1 }, 10*time.Second, 20*time.Millisecond)
	made(t, c, job, jobs.RunInput{})
	mails := waitForMails(t, office, 1)
	require.Equal(t, "oncall@example.org", mails[0].to)
	require.Contains(t, mails[0].GetHeader("Subject"), "Job trouble: Settlement")
	require.Contains(t, mails[0].Text, c.URL+"runs/1")
	require.Contains(t, mails[0].Text, "unexpected EOF")
	made(t, c, job, jobs.RunInput{})
	w.fail(nil)
	made(t, c, job, jobs.RunInput{})
	mails = waitForMails(t, office, 2)
	require.Contains(t, mails[1].Text, "is well again")
	require.Equal(t, mails[0].GetHeader("References"), mails[1].GetHeader("References"))
	require.Equal(t, mails[0].GetHeader("Subject"), mails[1].GetHeader("Subject"))
	require.NotEqual(t, mails[0].GetHeader("Message-Id"), mails[1].GetHeader("Message-Id"))
	require.Len(t, office.got(), 2)
	for id, status := range map[int64]int{1: 2, 2: 1, 3: 0} {
		d, err := c.Jobs.Run(t.Context(), admin(), id)
		require.NoError(t, err)
		require.Equal(t, status, d.Run.AlarmStatus, "run %d", id)
	}
}

func waitForMails(t *testing.T, o *postOffice, n int) []letter {
	t.Helper()
	require.Eventually(t, func() bool { return len(o.got()) >= n }, time.Minute, 20*time.Millisecond)
	return o.got()
}

func (w *worker) fail(with error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails = with
}

// TestHeartbeat is heard from the start on, and an address inside must be allowed.
func TestHeartbeat(t *testing.T) {
	beats := make(chan string, 10)
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { beats <- r.Method + " " + r.URL.Path }))
	t.Cleanup(outside.Close)
	cfg := testConfig(t)
	cfg.HeartbeatURL = outside.URL + "/ping/abc"
	_, err := app.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "--heartbeat-url")
	require.NotContains(t, err.Error(), "abc")
	cfg.AllowInternal = []string{"127.0.0.1"}
	start(t, cfg)
	require.Equal(t, "GET /ping/abc", <-beats)
}

// TestAFullDiskIsTold: of a center whose line is one percent.
func TestAFullDiskIsTold(t *testing.T) {
	office := openPostOffice(t)
	cfg := testConfig(t)
	cfg.SmtpURL, cfg.MailFrom = "smtp://"+office.addr+"?tls=none", "Carillon <carillon@example.org>"
	c, err := app.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, c.Jobs.SaveAlarmRule(t.Context(), admin(), model.AlarmRule{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Severity: model.SeverityWarning, Mails: []string{"ops@example.org"}}}))
	require.NoError(t, c.Stop(t.Context()))
	cfg.DiskFullAt = 1
	start(t, cfg)
	mails := waitForMails(t, office, 1)
	require.Equal(t, "ops@example.org", mails[0].to)
	require.Contains(t, mails[0].GetHeader("Subject"), "Disk nearly full: ")
}
