package main

import (
	"io"
	"net"
	netmail "net/mail"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

// mailbox is an SMTP server that counts.
type mailbox struct {
	addr   string
	server *smtp.Server

	mu  sync.Mutex
	got []taken
}

// taken is a mail that arrived.
type taken struct {
	at          time.Time
	to, subject string
}

type mailSession struct {
	box *mailbox
	to  string
}

func openMailbox() (*mailbox, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &mailbox{addr: l.Addr().String()}
	b.server = smtp.NewServer(b)
	b.server.Domain = "localhost"
	go func() { _ = b.server.Serve(l) }()
	return b, nil
}

func (b *mailbox) close() { _ = b.server.Close() }

// since gives what arrived after an instant.
func (b *mailbox) since(at time.Time) (out []taken) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.got {
		if m.at.After(at) {
			out = append(out, m)
		}
	}
	return out
}

// NewSession implements smtp.Backend.
func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &mailSession{box: b}, nil }

func (m *mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (m *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	m.to = to
	return nil
}
func (m *mailSession) Reset()        {}
func (m *mailSession) Logout() error { return nil }
func (m *mailSession) Data(r io.Reader) error {
	mail, err := netmail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, mail.Body); err != nil {
		return err
	}
	m.box.mu.Lock()
	defer m.box.mu.Unlock()
	m.box.got = append(m.box.got, taken{time.Now(), m.to, mail.Header.Get("Subject")})
	return nil
}
