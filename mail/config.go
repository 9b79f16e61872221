package mail

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TLSMode says how the connection is encrypted.
type TLSMode string

// The modes. STARTTLS is mandatory when it is asked for: a server that does not
// offer it gets no mail.
const (
	STARTTLS TLSMode = "starttls" // plain first, then encrypted; usually port 587
	Implicit TLSMode = "tls"      // encrypted from the first byte; usually port 465
	NoTLS    TLSMode = "none"     // never encrypted; usually port 25
)

// Names of ways to log in, for Config.Auth.
const (
	AuthAuto    = "auto" // the first of plain, login and cram-md5 that the server offers
	AuthPlain   = "plain"
	AuthLogin   = "login"
	AuthCRAMMD5 = "cram-md5"
)

// Bounds of a Config that says nothing.
const (
	DefaultDialTimeout = 10 * time.Second
	DefaultTimeout     = 60 * time.Second
)

// Config says which server sends the mails, and as whom.
type Config struct {
	Host           string
	Port           int     // 0 = the usual one of the mode
	User, Password string  // no login when User is empty
	TLS            TLSMode // "" = STARTTLS
	Auth           string  // "" = AuthAuto
	Helo           string  // name in EHLO; "" = the name of this machine
	Insecure       bool    // accept any certificate
	// From is the sender, with or without a display name: "Carillon <alarm@example.com>".
	From string
	// DialTimeout bounds the connection; DefaultDialTimeout when 0.
	DialTimeout time.Duration
	// Timeout bounds one Send as a whole; DefaultTimeout when 0.
	Timeout time.Duration
	RootCAs *x509.CertPool // nil = those of the system
}

// String shows the settings without the password.
func (c Config) String() string {
	user := ""
	if c.User != "" {
		user = url.User(c.User).String() + "@"
	}
	return fmt.Sprintf("smtp://%s%s?tls=%s", user, c.address(), c.TLS)
}

// GoString is String, for %#v.
func (c Config) GoString() string { return c.String() }

// LogValue is String, for slog.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c Config) address() string {
	host := c.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(c.Port)
}

// ParseURL reads smtp://user:password@host:port?tls=starttls|tls|none. More
// parameters: auth=auto|plain|login|cram-md5, helo=name, insecure=true (any
// certificate is accepted), timeout=60s (one mail as a whole). smtps:// is
// tls=tls. Errors name the part that is wrong and contain nothing of the user name,
// the password, or of what could be one.
func ParseURL(raw string) (Config, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// Its words would quote the password.
		return Config{}, errors.New("SMTP URL: cannot be read; it is smtp://user:password@host:port?tls=starttls, and in user and password the characters @ : / ? # % are written %40 %3A %2F %3F %23 %25")
	}
	c := Config{Host: u.Hostname(), TLS: STARTTLS, Auth: AuthAuto, User: u.User.Username()}
	c.Password, _ = u.User.Password()
	switch {
	case u.Scheme == "smtps":
		c.TLS = Implicit
	case u.Scheme != "smtp":
		return Config{}, errors.New("SMTP URL: it begins with smtp:// or smtps://")
	}
	switch {
	case c.Host == "":
		return Config{}, errors.New("SMTP URL: the host is missing")
	case u.Path != "" && u.Path != "/":
		return Config{}, errors.New("SMTP URL: there is a path after the host; a / in user or password is written %2F")
	case u.Fragment != "":
		return Config{}, errors.New("SMTP URL: there is a #; in user or password it is written %23")
	case u.User != nil && c.User == "":
		return Config{}, errors.New("SMTP URL: the user name is missing before the password")
	}
	if p := u.Port(); p != "" {
		if c.Port, err = strconv.Atoi(p); err != nil || c.Port < 1 || c.Port > 65535 {
			return Config{}, errors.New("SMTP URL: the port is not a number from 1 to 65535")
		}
	}
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Config{}, errors.New("SMTP URL: the parameters after ? cannot be read")
	}
	for name, values := range params {
		if err := c.set(name, values); err != nil {
			return Config{}, err
		}
	}
	return c, c.check()
}

// set takes one parameter of the URL.
func (c *Config) set(name string, values []string) (err error) {
	if len(values) != 1 {
		return fmt.Errorf("SMTP URL: %s is there twice", known(name))
	}
	v := strings.ToLower(values[0])
	switch name {
	case "tls":
		c.TLS = TLSMode(v)
	case "auth":
		c.Auth = v
	case "helo":
		c.Helo = v
	case "insecure":
		if c.Insecure, err = strconv.ParseBool(v); err != nil {
			return errors.New("SMTP URL: insecure is true or false")
		}
	case "timeout":
		if c.Timeout, err = time.ParseDuration(v); err != nil || c.Timeout <= 0 {
			return errors.New("SMTP URL: timeout is a duration such as 60s")
		}
	default:
		// A name that nobody knows may be the rest of a password with a ? in it.
		return errors.New("SMTP URL: a parameter is not known; there are tls, auth, helo, insecure and timeout, and a ? in user or password is written %3F")
	}
	return nil
}

func known(name string) string {
	if slices.Contains([]string{"tls", "auth", "helo", "insecure", "timeout"}, name) {
		return name
	}
	return "a parameter"
}

// check fills the port in and refuses what cannot work or would give the password
// away.
func (c *Config) check() error {
	if c.TLS == "" {
		c.TLS = STARTTLS
	}
	if c.Auth == "" {
		c.Auth = AuthAuto
	}
	port, ok := map[TLSMode]int{STARTTLS: 587, Implicit: 465, NoTLS: 25}[c.TLS]
	if !ok {
		return errors.New("SMTP URL: tls is starttls, tls or none")
	}
	if c.Port == 0 {
		c.Port = port
	}
	if !slices.Contains([]string{AuthAuto, AuthPlain, AuthLogin, AuthCRAMMD5}, c.Auth) {
		return errors.New("SMTP URL: auth is auto, plain, login or cram-md5")
	}
	if c.Helo != "" && !isHostName(c.Helo) {
		return errors.New("SMTP URL: helo is not the name of a host")
	}
	if !isHostName(c.Host) {
		if _, err := netip.ParseAddr(c.Host); err != nil {
			return errors.New("SMTP URL: the host is neither a name nor an address")
		}
	}
	if c.User != "" && c.TLS == NoTLS && c.Auth == AuthAuto && !isLoopback(c.Host) {
		return errors.New("SMTP URL: with tls=none the password would travel in plain text; use tls=starttls or tls=tls, or name auth=plain, login or cram-md5 to do it all the same")
	}
	return nil
}

func isLoopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// isHostName takes letters, digits, dots, hyphens and underscores, at most 255 of
// them and no label over 63.
func isHostName(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label {
			return false
		}
		for _, r := range label {
			if !isWord(r) && r != '-' && r != '_' {
				return false
			}
		}
	}
	return true
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
