package mail_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/mail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseURL(t *testing.T) {
	for raw, want := range map[string]mail.Config{
		"smtp://mx.example.com":                                        {Host: "mx.example.com", Port: 587, TLS: mail.STARTTLS, Auth: "auto"},
		"smtp://mx.example.com?tls=tls":                                {Host: "mx.example.com", Port: 465, TLS: mail.Implicit, Auth: "auto"},
		"smtps://mx.example.com":                                       {Host: "mx.example.com", Port: 465, TLS: mail.Implicit, Auth: "auto"},
		"smtp://mx.example.com?tls=none":                               {Host: "mx.example.com", Port: 25, TLS: mail.NoTLS, Auth: "auto"},
		"smtp://li@qq.com:abcd@smtp.qq.com:465?tls=tls&auth=LOGIN":     {Host: "smtp.qq.com", Port: 465, TLS: mail.Implicit, Auth: "login", User: "li@qq.com", Password: "abcd"},
		"smtp://u:p%40%2F%3A%3F%23%25@[::1]:2525/?tls=none&helo=a.b":   {Host: "::1", Port: 2525, TLS: mail.NoTLS, Auth: "auto", User: "u", Password: "p@/:?#%", Helo: "a.b"},
		"smtp://u:p@mx.example.com?tls=none&auth=plain":                {Host: "mx.example.com", Port: 25, TLS: mail.NoTLS, Auth: "plain", User: "u", Password: "p"},
		"smtp://mx.example.com?insecure=true&timeout=90s&tls=starttls": {Host: "mx.example.com", Port: 587, TLS: mail.STARTTLS, Auth: "auto", Insecure: true, Timeout: 90 * time.Second},
	} {
		c, err := mail.ParseURL(raw)
		if assert.NoError(t, err, raw) {
			assert.Equal(t, want, c, raw)
		}
	}
}

func TestParseURLNamesWhatIsWrongAndKeepsThePassword(t *testing.T) {
	const secret = "topsecret"
	for raw, want := range map[string]string{
		"":                                    "begins with smtp://",
		"http://u:topsecret@mx.example.com":   "begins with smtp://",
		"smtp://u:topsecret@":                 "host is missing",
		"smtp://u:topsecret@mx.example.com:0": "port",
		"smtp://u:topsecret@mx.example.com:99999":            "port",
		"smtp://u:topsecret@mx_.-:25":                        "neither a name nor an address",
		"smtp://u:topsecret@mx.example.com?tls=ssl":          "tls is starttls, tls or none",
		"smtp://u:topsecret@mx.example.com?auth=ntlm":        "auth is auto",
		"smtp://u:topsecret@mx.example.com?helo=a%20b":       "helo",
		"smtp://u:topsecret@mx.example.com?helo=a%0d%0aRSET": "helo",
		"smtp://u:topsecret@mx.example.com?insecure=perhaps": "insecure",
		"smtp://u:topsecret@mx.example.com?timeout=5":        "timeout",
		"smtp://u:topsecret@mx.example.com?tls=tls&tls=none": "tls is there twice",
		"smtp://u:topsecret@mx.example.com?x=1":              "not known",
		"smtp://:topsecret@mx.example.com":                   "user name is missing",
		"smtp://u:topsecret@mx.example.com?tls=none":         "plain text",
		// Passwords with signs that nobody escaped.
		"smtp://u:top/topsecret@mx.example.com": "%2F",
		"smtp://u:top#topsecret@mx.example.com": "#",
		"smtp://u:top?topsecret@mx.example.com": "",
		"smtp://u:top%topsecret@mx.example.com": "%25",
		"smtp://u:123?topsecret@mx.example.com": "",
		"smtp://u:1/topsecret@mx.example.com":   "path",
	} {
		_, err := mail.ParseURL(raw)
		if assert.ErrorContains(t, err, want, raw) {
			assert.NotContains(t, err.Error(), secret, raw)
		}
	}
}

func TestNewNeedsASender(t *testing.T) {
	for _, from := range []string{"", "x", "a@example.com, b@example.com", "A <a@example.com>\r\nBcc: c@example.com", `"a b"@example.com`} {
		_, err := mail.New(mail.Config{Host: "mx.example.com", From: from})
		assert.Error(t, err, from)
	}
	s, err := mail.New(mail.Config{Host: "mx.example.com", From: "值班 <alarm@example.com>"})
	require.NoError(t, err)
	assert.Equal(t, "alarm@example.com", s.From())
	assert.Equal(t, "smtp://mx.example.com:587?tls=starttls", s.String())
}

func TestCheckAddress(t *testing.T) {
	for _, good := range []string{"li.lei@example.com", "a+b@sub.example.co.uk", "10086@qq.com", "o'brien@example.com", "x@localhost", strings.Repeat("a", 64) + "@example.com"} {
		assert.NoError(t, mail.CheckAddress(good), good)
	}
	for bad, want := range map[string]error{
		"": mail.ErrNoAddress, "li": mail.ErrNoAddress, "@example.com": mail.ErrNoAddress, "li@": mail.ErrNoAddress, "li@example": mail.ErrNoAddress, "li@@example.com": mail.ErrNoAddress,
		"li@example..com": mail.ErrNoAddress, ".li@example.com": mail.ErrNoAddress, "li.@example.com": mail.ErrNoAddress, "l..i@example.com": mail.ErrNoAddress, "li@-example.com": mail.ErrNoAddress,
		"li@example.com\r\nBcc: x@example.com": mail.ErrNoAddress, "li@example.com\n": mail.ErrNoAddress, "li\x00@example.com": mail.ErrNoAddress, "li\t@example.com": mail.ErrNoAddress,
		"a@example.com,b@example.com": mail.ErrOneAddress, "a@example.com;b@example.com": mail.ErrOneAddress, "Li <li@example.com>": mail.ErrOneAddress, "<li@example.com>": mail.ErrOneAddress, " li@example.com": mail.ErrOneAddress, "a@example.com b@example.com": mail.ErrOneAddress,
		// CVE-2025-59937: a quoted local part that becomes the address of another.
		`"toni.tester@example.com>"@example.com`: mail.ErrOneAddress, `"li"@example.com`: mail.ErrNoAddress, `"a@b.com"@example.com`: mail.ErrNoAddress, `li\@x@example.com`: mail.ErrNoAddress,
		"li(x)@example.com": mail.ErrNoAddress, "li@[127.0.0.1]": mail.ErrNoAddress, "li@exa_mple.com": mail.ErrNoAddress, "li:x@example.com": mail.ErrNoAddress,
		"李@example.com": mail.ErrAddressASCII, "li@例子.com": mail.ErrAddressASCII, "li\u202e@example.com": mail.ErrAddressASCII,
		strings.Repeat("a", 65) + "@example.com": mail.ErrAddressTooLong, "a@" + strings.Repeat("a.", 130) + "com": mail.ErrAddressTooLong,
	} {
		assert.ErrorIs(t, mail.CheckAddress(bad), want, bad)
	}
}
