package e2e

import (
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/jhillyerd/enmime/v2"
	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

// inbox is an SMTP server that keeps the plain texts of what it gets.
type inbox struct {
	mu    sync.Mutex
	texts []string
}

func (b *inbox) NewSession(*smtp.Conn) (smtp.Session, error) { return b, nil }
func (b *inbox) Mail(string, *smtp.MailOptions) error        { return nil }
func (b *inbox) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "nobody@") {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such person"}
	}
	return nil
}
func (b *inbox) Reset()        {}
func (b *inbox) Logout() error { return nil }
func (b *inbox) Data(r io.Reader) error {
	m, err := enmime.ReadEnvelope(r)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.texts = append(b.texts, m.Text)
	return nil
}

func (b *inbox) text(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.texts) <= n {
		return ""
	}
	return b.texts[n]
}

func openInbox(t *testing.T) (*inbox, func(*app.ServeCmd)) {
	t.Helper()
	b := &inbox{}
	s := smtp.NewServer(b)
	s.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return b, func(cfg *app.ServeCmd) {
		cfg.SmtpURL, cfg.MailFrom = "smtp://"+l.Addr().String()+"?tls=none", "Carillon <carillon@example.org>"
	}
}

// TestFromTheMailToTheEnd: the link of a mail leads through the login to the incident, which
// is acknowledged there; the mail of the recovery arrives.
func TestFromTheMailToTheEnd(t *testing.T) {
	t.Parallel()
	box, with := openInbox(t)
	w := newWorld(t, with)
	w.addJob("Settlement", map[string]any{"scheduleType": "NONE", "executorHandler": "demo.fail", "alarmEmail": "oncall@example.org"})
	w.api("triggerJob", map[string]any{"id": 1, "executorParam": ""})
	w.until("the mail is there", func() bool { return box.text(0) != "" })
	link := regexp.MustCompile(`http://\S+/incidents/1`).FindString(box.text(0))
	require.NotEmpty(t, link, box.text(0))

	p := w.visitor(func(o *playwright.BrowserNewContextOptions) { o.Viewport = &playwright.Size{Width: 390, Height: 844} })
	p.doOpen(strings.TrimPrefix(link, w.url))
	p.doLogIn("admin", password)
	p.verifyText("h1", "Settlement")
	p.verifyText("[data-testid=incident-state]", "open")
	p.verifyText("[data-testid=told-line]", "oncall@example.org")
	p.verifyAccessible("the incident", readAxe(t))
	p.doClick("[data-testid=ack]")
	p.verifyText("[data-testid=incident-state]", "acknowledged")
	p.verifyText("[data-testid=incident-history]", "Acknowledged")
	p.doClick("[data-testid=mute-button]")
	p.verifyAccessible("the menu of the mute", readAxe(t))
	p.doClick("[data-testid=mute1h]")
	p.verifyText("[data-testid=incident-state]", "muted")
	p.doClick("[data-testid=mute0]")
	p.verifyText("[data-testid=incident-state]", "acknowledged")
	p.doFill("#comment", "The ledger was locked.")
	p.doClick("[data-testid=comment]")
	p.verifyText("[data-testid=incident-history]", "The ledger was locked.")
	p.doClick("[data-testid=run-link]")
	p.verifyAt("/runs/1")
	p.doOpen("/jobs/1")
	p.verifyText("[data-testid=job-incident]", "acknowledged")
	p.doOpen("/")
	p.doClick("[data-testid=dash-incidents]")
	p.verifyAt("/incidents")
	p.verifyCount("[data-testid=incident-row]", 1)
	p.verifyAccessible("the list of incidents", readAxe(t))

	w.api("updateJob", map[string]any{"id": 1, "executorHandler": "demo.hello"})
	w.api("triggerJob", map[string]any{"id": 1, "executorParam": ""})
	w.until("the recovery is told", func() bool { return strings.Contains(box.text(1), "已恢复") })
	p.doOpen("/incidents/1")
	p.verifyText("[data-testid=incident-state]", "over")
}
