package mail

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wneessen/go-mail/smtp"
)

// ErrPlainText: the password would travel unencrypted although nobody asked for it.
var ErrPlainText = errors.New("the connection is not encrypted, the password is not sent")

// login chooses how to log in among what the server offers, and does it.
type login struct {
	smtp.Auth
	c Config
}

// Start is called with what the server offers on the connection as it is now.
func (l *login) Start(server *smtp.ServerInfo) (string, []byte, error) {
	if !server.TLS && (l.c.TLS != NoTLS || l.c.Auth == AuthAuto && !isLoopback(l.c.Host)) {
		return "", nil, ErrPlainText
	}
	offered := make([]string, len(server.Auth))
	for i, name := range server.Auth {
		offered[i] = strings.ToLower(name)
	}
	wanted := []string{AuthPlain, AuthLogin, AuthCRAMMD5}
	if l.c.Auth != AuthAuto {
		wanted = []string{l.c.Auth}
	}
	for _, name := range wanted {
		if slices.Contains(offered, name) {
			switch name {
			case AuthPlain:
				l.Auth = smtp.PlainAuth("", l.c.User, l.c.Password, server.Name, true)
			case AuthLogin:
				l.Auth = smtp.LoginAuth(l.c.User, l.c.Password, server.Name, true)
			default:
				l.Auth = smtp.CRAMMD5Auth(l.c.User, l.c.Password)
			}
			return l.Auth.Start(server)
		}
	}
	if len(offered) == 0 {
		return "", nil, errors.New("the server offers no login (AUTH)")
	}
	return "", nil, fmt.Errorf("the server offers AUTH %s, not %s", line(strings.Join(server.Auth, " "), 200), strings.Join(wanted, ", "))
}
