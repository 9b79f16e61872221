// Package mail sends mails by SMTP: one mail, one recipient, one connection. It
// decides nothing, keeps nothing and never tries twice. The only import of go-mail is
// here: it writes the mail down and speaks the protocol.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	netmail "net/mail"
	"os"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// maxTalk is how much a server may say in one conversation, in bytes. It bounds the
// memory that one without an end takes.
const maxTalk = 1 << 20

var errTalks = errors.New("the mail server does not stop talking")

// listener is a connection from which maxTalk bytes are read.
type listener struct {
	net.Conn
	left int
}

func (l *listener) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTalks
	}
	n, err := l.Conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// farewell bounds QUIT. Its answer does not matter: the mail is the server's by then.
const farewell = 2 * time.Second

// Sender sends mails through one server. It keeps no connection and is safe for
// concurrent use.
type Sender struct {
	c    Config
	from *netmail.Address
	helo string
}

// New checks the settings and the sender's address. It does not dial.
func New(c Config) (*Sender, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	from, err := parseFrom(c.From)
	if err != nil {
		return nil, err
	}
	if c.DialTimeout <= 0 {
		c.DialTimeout = DefaultDialTimeout
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	s := &Sender{c: c, from: from, helo: c.Helo}
	if s.helo == "" {
		if s.helo, err = os.Hostname(); err != nil || !isHostName(s.helo) {
			s.helo = "localhost"
		}
	}
	return s, nil
}

// String shows the settings without the password.
func (s *Sender) String() string { return s.c.String() }

// GoString is String, for %#v.
func (s *Sender) GoString() string { return s.c.String() }

// LogValue is String, for slog.
func (s *Sender) LogValue() slog.Value { return s.c.LogValue() }

// From is the address that mails come from, without its name.
func (s *Sender) From() string { return s.from.Address }

// Receipt is what the server answered to the mail.
type Receipt struct {
	Code int    // 250
	Text string // such as "2.0.0 Ok: queued as 4F1"; cleaned, at most 500 bytes
}

// Send hands one mail to the server. Success is the server's answer to DATA and
// nothing after it: some providers answer QUIT with rubbish. Errors are *Error. An
// error at StepData without a Code leaves open whether the server has the mail; the
// next try has the same Message-ID.
func (s *Sender) Send(ctx context.Context, m Message) (Receipt, error) {
	body, err := s.render(m)
	if err != nil {
		return Receipt{}, err
	}
	whole, cancel := context.WithTimeoutCause(ctx, s.c.Timeout, ErrTooSlow)
	defer cancel()
	conn, err := s.dial(whole)
	if err != nil {
		return Receipt{}, err
	}
	defer conn.Close()
	// Whatever the server does, or does not do, ends with the connection.
	defer context.AfterFunc(whole, func() { _ = conn.Close() })()
	receipt, c, failed := s.talk(conn, m.To, body)
	if c != nil && (failed == nil || failed.Code != 0) {
		s.bye(c, conn)
	}
	if failed != nil {
		if failed.Code == 0 && whole.Err() != nil {
			failed.Err = context.Cause(whole)
		}
		return Receipt{}, failed
	}
	return receipt, nil
}

// dial connects; with TLS when the mode says so.
func (s *Sender) dial(ctx context.Context) (net.Conn, error) {
	var conn net.Conn
	var err error
	dialer := &net.Dialer{Timeout: s.c.DialTimeout}
	if conn, err = dialer.DialContext(ctx, "tcp", s.c.address()); err != nil {
		return nil, s.ended(ctx, StepDial, err)
	}
	conn = &listener{Conn: conn, left: maxTalk}
	if s.c.TLS != Implicit {
		return conn, nil
	}
	secured := tls.Client(conn, s.tls())
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, s.ended(ctx, StepTLS, err)
	}
	return secured, nil
}

// ended is failed, with the reason of a context that has ended in the place of what
// it did to the connection.
func (s *Sender) ended(ctx context.Context, step string, err error) *Error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return s.failed(step, err)
}

func (s *Sender) tls() *tls.Config {
	return &tls.Config{ServerName: s.c.Host, RootCAs: s.c.RootCAs, MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.c.Insecure} //nolint:gosec // asked for by option only
}

// talk is the conversation up to the answer to DATA. The client is nil when there was
// no greeting.
func (s *Sender) talk(conn net.Conn, to string, body []byte) (Receipt, *smtp.Client, *Error) {
	c, err := smtp.NewClient(conn, s.c.Host)
	if err != nil {
		return Receipt{}, nil, s.failed(StepDial, err)
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{StepDial, func() error { return c.Hello(s.helo) }},
		{StepTLS, func() error { return s.secure(c) }},
		{StepAuth, func() error { return s.login(c) }},
		{StepFrom, func() error { return c.Mail("<" + s.from.Address + ">") }},
		{StepTo, func() error { return c.Rcpt("<" + to + ">") }},
	} {
		if err := step.do(); err != nil {
			return Receipt{}, c, s.failed(step.name, err)
		}
	}
	w, err := c.Data()
	if err != nil {
		return Receipt{}, c, s.failed(StepData, err)
	}
	if _, err := w.Write(body); err != nil {
		return Receipt{}, c, s.failed(StepData, refusal(c, err))
	}
	if err := w.Close(); err != nil {
		return Receipt{}, c, s.failed(StepData, err)
	}
	r := Receipt{Code: 250}
	if d, ok := w.(*smtp.DataCloser); ok {
		r.Text = s.words(d.ServerResponse())
	}
	return r, c, nil
}

// secure turns encryption on where STARTTLS is asked for, or fails.
func (s *Sender) secure(c *smtp.Client) error {
	if s.c.TLS != STARTTLS {
		return nil
	}
	if offered, _ := c.Extension("STARTTLS"); !offered {
		return errors.New("the server does not offer STARTTLS; for a server without encryption say tls=none")
	}
	return c.StartTLS(s.tls())
}

func (s *Sender) login(c *smtp.Client) error {
	c.SkipSMTPUTF8(true) // all addresses are ASCII
	if s.c.User == "" {
		return nil
	}
	return c.Auth(&login{c: s.c})
}

// bye says QUIT. Nothing here changes what became of the mail.
func (s *Sender) bye(c *smtp.Client, conn net.Conn) {
	defer time.AfterFunc(farewell, func() { _ = conn.Close() }).Stop()
	_ = c.Quit()
}

// refusal is the answer of a server that closed the connection while the mail was
// being written, when there is one.
func refusal(c *smtp.Client, err error) error {
	if _, _, answer := c.Text.ReadResponse(250); answer != nil && !errors.Is(answer, io.EOF) && !errors.Is(answer, io.ErrUnexpectedEOF) {
		return answer
	}
	return err
}
