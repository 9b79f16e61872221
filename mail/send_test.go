package mail_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/mail"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSendByEachWayOfEncryptionAndLogin(t *testing.T) {
	ca := newAuthority(t)
	cert, _ := ca.issue(t, "127.0.0.1", time.Now().Add(time.Hour))
	for _, tls := range []mail.TLSMode{mail.STARTTLS, mail.Implicit, mail.NoTLS} {
		for _, auth := range []string{"", mail.AuthPlain, mail.AuthLogin, mail.AuthCRAMMD5, mail.AuthAuto} {
			t.Run(fmt.Sprintf("%s %s", tls, auth), func(t *testing.T) {
				b := &backend{}
				if auth != "" {
					b.mechanisms = []string{"PLAIN", "LOGIN", "CRAM-MD5"}
				}
				pair := &cert
				if tls == mail.NoTLS {
					pair = nil
				}
				s := sender(t, serve(t, b, pair, tls == mail.Implicit), func(c *mail.Config) {
					c.TLS, c.RootCAs, c.Auth = tls, ca.pool, auth
					if auth != "" {
						c.User, c.Password = user, password
					}
				})
				r, err := s.Send(t.Context(), sample())
				require.NoError(t, err)
				assert.Equal(t, 250, r.Code)
				assert.Contains(t, r.Text, "OK: queued")
				require.Len(t, b.all(), 1)
				assert.Equal(t, "alarm@example.com", b.mails[0].from)
				assert.Equal(t, "li.lei@example.com", b.mails[0].to)
				switch auth {
				case mail.AuthLogin, mail.AuthCRAMMD5:
					assert.Equal(t, []string{strings.ToUpper(auth)}, b.auths)
				case mail.AuthPlain, mail.AuthAuto:
					assert.Equal(t, []string{"PLAIN"}, b.auths)
				default:
					assert.Empty(t, b.auths)
				}
			})
		}
	}
}

func TestLoginChoosesWhatIsOffered(t *testing.T) {
	b := &backend{mechanisms: []string{"CRAM-MD5"}}
	port := serve(t, b, nil, false)
	_, err := sender(t, port, func(c *mail.Config) { c.User, c.Password = user, password }).Send(t.Context(), sample())
	require.NoError(t, err)
	assert.Equal(t, []string{"CRAM-MD5"}, b.auths)

	e := failure(t, sender(t, port, func(c *mail.Config) { c.User, c.Password, c.Auth = user, password, mail.AuthPlain }), sample())
	assert.Equal(t, mail.StepAuth, e.Step)
	assert.ErrorContains(t, e, "the server offers AUTH CRAM-MD5, not plain")

	port, _ = play(t, func(c net.Conn) { talk(c, fine()) })
	e = failure(t, sender(t, port, func(c *mail.Config) { c.User, c.Password = user, password }), sample())
	assert.Equal(t, mail.StepAuth, e.Step)
	assert.ErrorContains(t, e, "offers no login")
}

// failure sends and expects an *Error that gives nothing away.
func failure(t *testing.T, s *mail.Sender, m mail.Message) *mail.Error {
	t.Helper()
	r, err := s.Send(t.Context(), m)
	require.Error(t, err)
	assert.Zero(t, r)
	e, ok := errors.AsType[*mail.Error](err)
	require.True(t, ok, "%T", err)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, e.Text), password)
	return e
}

func TestWrongPassword(t *testing.T) {
	b := &backend{mechanisms: []string{"PLAIN"}}
	const wrong = "other-secret"
	s := sender(t, serve(t, b, nil, false), func(c *mail.Config) { c.User, c.Password = user, wrong })
	e := failure(t, s, sample())
	assert.Equal(t, mail.Error{Code: 535, Enhanced: "5.7.8", Text: "5.7.8 Error: authentication failed for alarm@example.com with ***", Step: mail.StepAuth}, *e)
	assert.True(t, e.ForAll())
	assert.NotContains(t, e.Error(), wrong)
	assert.Empty(t, b.all())
}

func TestTemporaryThenSuccess(t *testing.T) {
	b := &backend{onData: func(n int) error {
		if n == 1 {
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "Greylisted, come again"}
		}
		return nil
	}}
	s := sender(t, serve(t, b, nil, false), nil)
	e := failure(t, s, sample())
	assert.Equal(t, mail.Error{Code: 451, Enhanced: "4.7.1", Text: "4.7.1 Greylisted, come again", Step: mail.StepData}, *e)
	assert.False(t, e.ForAll())
	_, err := s.Send(t.Context(), sample())
	require.NoError(t, err)
	require.Len(t, b.all(), 1)
	assert.Contains(t, string(b.mails[0].raw), "Message-ID: <inc-7-opened@carillon.example.com>")
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		at, answer string
		want       mail.Error
		forAll     bool
	}{
		{"RCPT", "550 5.1.1 no such user", mail.Error{Code: 550, Enhanced: "5.1.1", Text: "5.1.1 no such user", Step: mail.StepTo, Permanent: true}, false},
		{"RCPT", "450 4.2.0 greylisted", mail.Error{Code: 450, Enhanced: "4.2.0", Text: "4.2.0 greylisted", Step: mail.StepTo}, false},
		{"RCPT", "421 try later", mail.Error{Code: 421, Text: "try later", Step: mail.StepTo}, true},
		{"MAIL", "501 sender refused", mail.Error{Code: 501, Text: "sender refused", Step: mail.StepFrom, Permanent: true}, false},
		{"MAIL", "530 5.7.0 authentication required", mail.Error{Code: 530, Enhanced: "5.7.0", Text: "5.7.0 authentication required", Step: mail.StepFrom}, true},
		{"MAIL", "550 Ip frequency limited", mail.Error{Code: 550, Text: "Ip frequency limited", Step: mail.StepFrom}, false},
		{"DATA", "554 no", mail.Error{Code: 554, Text: "no", Step: mail.StepData, Permanent: true}, false},
		{".", "554 5.7.1 spam\x1b[31m\x00 \xff", mail.Error{Code: 554, Enhanced: "5.7.1", Text: "5.7.1 spam [31m \uFFFD", Step: mail.StepData, Permanent: true}, false},
		{".", "550-first line\r\n550 second", mail.Error{Code: 550, Text: "first line second", Step: mail.StepData, Permanent: true}, false},
		{"greeting", "554 DT:SPM blocked", mail.Error{Code: 554, Text: "DT:SPM blocked", Step: mail.StepDial}, true},
	} {
		t.Run(tc.at+" "+tc.answer[:3], func(t *testing.T) {
			answers := fine()
			answers[tc.at] = tc.answer + "\r\n"
			port, count := play(t, func(c net.Conn) { talk(c, answers) })
			e := failure(t, sender(t, port, nil), sample())
			assert.Equal(t, tc.want, *e)
			assert.Equal(t, tc.forAll, e.ForAll())
			assert.Equal(t, 1, count())
		})
	}
}

func TestServersThatHang(t *testing.T) {

	quick := func(c *mail.Config) { c.Timeout = 300 * time.Millisecond }
	trickle := func(c net.Conn, text string) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			if _, err := c.Write([]byte{text[i%len(text)]}); err != nil {
				return
			}
			<-tick.C
		}
	}
	long := sample()
	long.Files = []mail.File{{Name: "log.txt", Type: "text/plain", Data: make([]byte, 16<<20)}} // more than the buffers of a connection
	for _, tc := range []struct {
		name, step string
		script     func(c net.Conn)
		change     func(c *mail.Config)
	}{
		{"accepts and says nothing", mail.StepDial, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, nil},
		{"greets one letter at a time", mail.StepDial, func(c net.Conn) { trickle(c, "220 a long greeting ") }, nil},
		{"greets with endless lines", mail.StepDial, func(c net.Conn) { trickle(c, "220-x\r\n") }, nil},
		{"says nothing to TLS", mail.StepTLS, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, func(c *mail.Config) { c.TLS = mail.Implicit }},
		{"says nothing to STARTTLS", mail.StepTLS, func(c net.Conn) {
			a := fine()
			a["EHLO"], a["STARTTLS"] = "250-mx\r\n250 STARTTLS\r\n", "hang"
			talk(c, a)
		}, func(c *mail.Config) { c.TLS = mail.STARTTLS }},
		{"hangs in the handshake", mail.StepTLS, func(c net.Conn) {
			a := fine()
			a["EHLO"], a["STARTTLS"] = "250-mx\r\n250 STARTTLS\r\n", "220 go\r\n"
			talk(c, a)
			_, _ = io.Copy(io.Discard, c)
		}, func(c *mail.Config) { c.TLS = mail.STARTTLS }},
		{"hangs at MAIL", mail.StepFrom, func(c net.Conn) { a := fine(); a["MAIL"] = "hang"; talk(c, a) }, nil},
		{"hangs at DATA", mail.StepData, func(c net.Conn) { a := fine(); a["DATA"] = "hang"; talk(c, a) }, nil},
		{"hangs after the mail", mail.StepData, func(c net.Conn) { a := fine(); a["."] = "hang"; talk(c, a) }, nil},
		{"takes no data", mail.StepData, func(c net.Conn) {
			_, _ = io.WriteString(c, "220 mx\r\n250 mx\r\n250 ok\r\n250 ok\r\n354 go\r\n")
			for tick := time.NewTicker(20 * time.Millisecond); c.SetDeadline(time.Time{}) == nil; { // until the test closes it
				<-tick.C
			}
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			port, _ := play(t, tc.script)
			s := sender(t, port, func(c *mail.Config) {
				quick(c)
				if tc.change != nil {
					tc.change(c)
				}
			})
			began := time.Now()
			m := sample()
			if tc.name == "takes no data" {
				m = long
			}
			e := failure(t, s, m)
			assert.Less(t, time.Since(began), 5*time.Second)
			assert.Equal(t, tc.step, e.Step)
			assert.False(t, e.Permanent)
			assert.ErrorIs(t, e, mail.ErrTooSlow)
		})
	}
}

func TestServersThatCloseInTheMiddle(t *testing.T) {
	for _, tc := range []struct {
		name, step string
		script     func(c net.Conn)
	}{
		{"at once", mail.StepDial, func(net.Conn) {}},
		{"after RCPT", mail.StepData, func(c net.Conn) { a := fine(); delete(a, "DATA"); talk(c, a) }},
		{"in the mail", mail.StepData, func(c net.Conn) {
			_, _ = io.WriteString(c, "220 mx\r\n250 mx\r\n250 ok\r\n250 ok\r\n354 go\r\n")
			_, _ = io.CopyN(io.Discard, c, 200)
		}},
		{"after the mail", mail.StepData, func(c net.Conn) { a := fine(); delete(a, "."); talk(c, a) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			port, count := play(t, tc.script)
			e := failure(t, sender(t, port, nil), sample())
			assert.Equal(t, tc.step, e.Step)
			assert.Zero(t, e.Code)
			assert.False(t, e.Permanent)
			assert.Equal(t, 1, count(), "nothing is sent twice")
		})
	}
}

// QQ and 163 answer RSET and QUIT with bytes that are no answer. The mail is theirs
// by then.
func TestRubbishAfterTheMail(t *testing.T) {
	for _, farewell := range []string{"\x00\x00\x00\x1a\x00\x00\x00\n\r\n", "500 what?\r\n", "\xff\xfe"} {
		a, mails := fine(), 0
		a["QUIT"] = farewell
		a["RSET"] = farewell
		port, count := play(t, func(c net.Conn) { talk(c, a) })
		r, err := sender(t, port, nil).Send(t.Context(), sample())
		mails++
		require.NoError(t, err)
		assert.Equal(t, mail.Receipt{Code: 250, Text: "2.0.0 queued as A1"}, r)
		assert.Equal(t, mails, count())
	}
}

func TestAServerThatForgetsToSayGoodbyeCostsTwoSeconds(t *testing.T) {
	a := fine()
	a["QUIT"] = "hang"
	port, _ := play(t, func(c net.Conn) { talk(c, a) })
	began := time.Now()
	_, err := sender(t, port, func(c *mail.Config) { c.Timeout = time.Minute }).Send(t.Context(), sample())
	require.NoError(t, err)
	assert.Less(t, time.Since(began), 10*time.Second)
}

func TestCertificatesAreChecked(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	right, _ := ca.issue(t, "127.0.0.1", in(time.Hour))
	expired, _ := ca.issue(t, "127.0.0.1", in(-time.Hour))
	other, _ := ca.issue(t, "mail.example.org", in(time.Hour))
	for _, tc := range []struct {
		name, want string
		cert       tls.Certificate
		ca         *authority
		insecure   bool
	}{
		{"right", "", right, ca, false},
		{"expired", "expired", expired, ca, false},
		{"of another host", "127.0.0.1", other, ca, false},
		{"by nobody known", "unknown authority", right, stranger, false},
		{"expired and accepted", "", expired, stranger, true},
	} {
		for _, mode := range []mail.TLSMode{mail.STARTTLS, mail.Implicit} {
			t.Run(tc.name+" "+string(mode), func(t *testing.T) {
				b := &backend{mechanisms: []string{"PLAIN"}}
				s := sender(t, serve(t, b, &tc.cert, mode == mail.Implicit), func(c *mail.Config) {
					c.TLS, c.RootCAs, c.Insecure, c.User, c.Password = mode, tc.ca.pool, tc.insecure, user, password
				})
				if tc.want == "" {
					_, err := s.Send(t.Context(), sample())
					require.NoError(t, err)
					return
				}
				e := failure(t, s, sample())
				assert.Equal(t, mail.StepTLS, e.Step)
				assert.ErrorContains(t, e, tc.want)
				assert.True(t, e.ForAll())
				assert.False(t, e.Permanent)
				assert.Empty(t, b.auths, "no password for a server that is not known")
			})
		}
	}
}

func TestStartTLSIsNeverLeftOut(t *testing.T) {
	b := &backend{mechanisms: []string{"PLAIN"}}
	s := sender(t, serve(t, b, nil, false), func(c *mail.Config) { c.TLS, c.User, c.Password = mail.STARTTLS, user, password })
	e := failure(t, s, sample())
	assert.Equal(t, mail.StepTLS, e.Step)
	assert.ErrorContains(t, e, "does not offer STARTTLS")
	assert.Empty(t, b.auths)
	assert.Empty(t, b.all())
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	e := failure(t, sender(t, port, nil), sample())
	assert.Equal(t, mail.StepDial, e.Step)
	assert.ErrorContains(t, e, "refused")
}

func TestSendEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	port, _ := play(t, func(c net.Conn) { cancel(); _, _ = io.Copy(io.Discard, c) })
	_, err := sender(t, port, func(c *mail.Config) { c.Timeout = time.Hour }).Send(ctx, sample())
	require.ErrorIs(t, err, context.Canceled)
}

func TestThePasswordIsShownNowhere(t *testing.T) {
	c := mail.Config{Host: "mx.example.com", User: user, Password: password, TLS: mail.STARTTLS, Port: 587, From: "a@example.com"}
	s, err := mail.New(c)
	require.NoError(t, err)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "sender", s)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "sender", s)
	log.WriteString(fmt.Sprintf("%v %+v %#v %s %v %+v %#v %s", c, c, c, c, s, s, s, s))
	assert.NotContains(t, log.String(), password)
	assert.NotContains(t, log.String(), "geheim")
	assert.Contains(t, log.String(), "mx.example.com:587")
}

func TestServersThatDoNotStopTalking(t *testing.T) {
	for _, what := range []string{"220-welcome\r\n", "x"} {
		port, _ := play(t, func(c net.Conn) {
			for text := strings.Repeat(what, 1000); ; {
				if _, err := io.WriteString(c, text); err != nil {
					return
				}
			}
		})
		began := time.Now()
		e := failure(t, sender(t, port, func(c *mail.Config) { c.Timeout = time.Minute }), sample())
		assert.Equal(t, mail.StepDial, e.Step)
		assert.ErrorContains(t, e, "does not stop talking")
		assert.Less(t, time.Since(began), 20*time.Second)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	a := fine()
	a["RCPT"] = "\x00\x1b[31m" + password + "\r\n"
	port, _ := play(t, func(c net.Conn) { talk(c, a) })
	e := failure(t, sender(t, port, func(c *mail.Config) { c.User, c.Password = "", password }), sample())
	assert.Equal(t, mail.StepTo, e.Step)
	assert.NotContains(t, e.Error(), "\x00")
	assert.False(t, e.Permanent)
}
