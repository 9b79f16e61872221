package mail_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/mail"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

const (
	user     = "alarm@example.com"
	password = "hun/ter2:@?%geheim"
)

// authority issues certificates for one test.
type authority struct {
	pool *x509.CertPool
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign},
		&x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}}, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	a := &authority{pool: x509.NewCertPool(), cert: cert, key: key}
	a.pool.AddCert(cert)
	return a
}

// issue makes a certificate for a host name or an address, as PEM too.
func (a *authority) issue(t *testing.T, host string, ends time.Time) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, NotBefore: ends.Add(-24 * time.Hour), NotAfter: ends, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	both := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	pair, err := tls.X509KeyPair(both, both)
	require.NoError(t, err)
	return pair, both
}

// backend is what the server in the test does with mails.
type backend struct {
	mechanisms []string
	onRcpt     func(to string) error
	onData     func(n int) error // n counts the mails that reached DATA, from 1

	mu    sync.Mutex
	mails []delivered
	tries int
	auths []string
}

type delivered struct {
	from, to string
	raw      []byte
}

func (b *backend) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{b: b}, nil }

func (b *backend) all() []delivered {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mails)
}

type session struct {
	b        *backend
	loggedIn bool
	d        delivered
}

func (s *session) AuthMechanisms() []string { return s.b.mechanisms }

func (s *session) Auth(name string) (sasl.Server, error) {
	check := func(u, p string) error {
		s.b.mu.Lock()
		defer s.b.mu.Unlock()
		s.b.auths = append(s.b.auths, name)
		if u != user || p != password {
			// Some servers quote what they got.
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "Error: authentication failed for " + u + " with " + p}
		}
		s.loggedIn = true
		return nil
	}
	switch name {
	case sasl.Plain:
		return sasl.NewPlainServer(func(_, u, p string) error { return check(u, p) }), nil
	case "LOGIN":
		return &loginServer{check: check}, nil
	case "CRAM-MD5":
		return &cramServer{check: check}, nil
	}
	return nil, smtp.ErrAuthUnknownMechanism
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if len(s.b.mechanisms) > 0 && !s.loggedIn {
		return smtp.ErrAuthRequired
	}
	s.d = delivered{from: from}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.d.to = to
	if s.b.onRcpt != nil {
		return s.b.onRcpt(to)
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.b.tries++
	if s.b.onData != nil {
		if err := s.b.onData(s.b.tries); err != nil {
			return err
		}
	}
	s.d.raw = raw
	s.b.mails = append(s.b.mails, s.d)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

type loginServer struct {
	check func(u, p string) error
	step  int
	user  string
}

func (l *loginServer) Next(response []byte) ([]byte, bool, error) {
	l.step++
	switch l.step {
	case 1:
		return []byte("Username:"), false, nil
	case 2:
		l.user = string(response)
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(l.user, string(response))
}

type cramServer struct {
	check func(u, p string) error
	step  int
}

func (c *cramServer) Next(response []byte) ([]byte, bool, error) {
	const challenge = "<1896.697170952@example.com>"
	if c.step++; c.step == 1 {
		return []byte(challenge), false, nil
	}
	u, digest, _ := strings.Cut(string(response), " ")
	h := hmac.New(md5.New, []byte(password))
	h.Write([]byte(challenge))
	if digest != hex.EncodeToString(h.Sum(nil)) {
		return nil, true, errors.New("wrong digest")
	}
	return nil, true, c.check(u, password)
}

// serve runs go-smtp on a loopback port until the test ends. With a certificate it
// offers STARTTLS, or TLS at once.
func serve(t *testing.T, b *backend, cert *tls.Certificate, implicit bool) (port int) {
	t.Helper()
	s := smtp.NewServer(b)
	s.Domain, s.AllowInsecureAuth, s.ReadTimeout, s.WriteTimeout = "mx.example.com", true, 10*time.Second, 10*time.Second
	s.ErrorLog = quiet{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port = l.Addr().(*net.TCPAddr).Port
	if cert != nil {
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*cert}}
		if implicit {
			l = tls.NewListener(l, s.TLSConfig)
		}
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return port
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// play runs a server that follows a script: it gives each connection to the function
// and closes it afterwards. It counts connections.
func play(t *testing.T, script func(c net.Conn)) (port int, count func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	var wg sync.WaitGroup
	n, conns := 0, []net.Conn{}
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			n, conns = n+1, append(conns, c)
			mu.Unlock()
			wg.Go(func() { defer c.Close(); script(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().(*net.TCPAddr).Port, func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// talk answers commands by their first word until a line without an answer; after
// DATA it reads the mail and goes on with the answer to ".".
func talk(c net.Conn, answers map[string]string) {
	_, _ = io.WriteString(c, answers["greeting"])
	buf := make([]byte, 1)
	read := func() (string, bool) {
		var line bytes.Buffer
		for {
			if _, err := c.Read(buf); err != nil {
				return "", false
			}
			if buf[0] == '\n' {
				return strings.TrimRight(line.String(), "\r"), true
			}
			line.WriteByte(buf[0])
		}
	}
	inData := false
	for {
		line, ok := read()
		if !ok {
			return
		}
		word, _, _ := strings.Cut(line, " ")
		if inData && line != "." {
			continue
		}
		answer, ok := answers[word]
		if !ok {
			return
		}
		if answer == "hang" {
			_, _ = io.Copy(io.Discard, c)
			return
		}
		inData = word == "DATA" && strings.HasPrefix(answer, "354")
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

func fine() map[string]string {
	return map[string]string{"greeting": "220 mx\r\n", "EHLO": "250 mx\r\n", "MAIL": "250 ok\r\n", "RCPT": "250 ok\r\n", "DATA": "354 go\r\n", ".": "250 2.0.0 queued as A1\r\n", "QUIT": "221 bye\r\n"}
}

func sender(t *testing.T, port int, change func(*mail.Config)) *mail.Sender {
	t.Helper()
	c := mail.Config{Host: "127.0.0.1", Port: port, TLS: mail.NoTLS, From: "Carillon 报警 <alarm@example.com>", Timeout: 20 * time.Second}
	if change != nil {
		change(&c)
	}
	s, err := mail.New(c)
	require.NoError(t, err)
	return s
}

func sample() mail.Message {
	return mail.Message{To: "li.lei@example.com", Subject: "Job failed", Text: "It failed.\n.\nlast line", HTML: "<p>It failed.</p>", ID: "inc-7-opened@carillon.example.com",
		At: time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 8*3600))}
}
