package mail

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"strings"
	"unicode"
)

// The steps of a send, for Error.Step.
const (
	StepMessage = "message" // it cannot be written: an address or a header is wrong
	StepDial    = "dial"    // connection, greeting, EHLO
	StepTLS     = "tls"
	StepAuth    = "auth"
	StepFrom    = "from"
	StepTo      = "to"
	StepData    = "data"
)

// Error says why a mail was not sent, or not known to be.
type Error struct {
	Code     int    // of the server's answer; 0 without one
	Enhanced string // status code of RFC 3463 such as 5.1.1; may be empty
	Text     string // the server's words, cleaned, at most 500 bytes
	// Permanent: this mail would be refused again. Troubles of the connection, the
	// certificate or the login are not: they are mended, and the same mail is sent then.
	Permanent bool
	Step      string
	Err       error // what happened, when it was no answer
}

// Error tells the step and the server's words. It never contains the password.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("mail: " + e.Step)
	if e.Code != 0 {
		fmt.Fprintf(&b, ": %d %s", e.Code, e.Text)
	} else if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap gives Err.
func (e *Error) Unwrap() error { return e.Err }

// ForAll says that no mail gets through at the moment, whoever it is for: the server
// is away or its settings are wrong.
func (e *Error) ForAll() bool {
	switch e.Step {
	case StepDial, StepTLS, StepAuth:
		return true
	}
	return e.Code == 421 || e.Code == 530
}

// ErrTooSlow: the send took longer than its time.
var ErrTooSlow = errors.New("the mail server did not finish in time")

var enhanced = regexp.MustCompile(`^([245]\.\d{1,3}\.\d{1,3})(?: |$)`)

// failed makes an Error of what went wrong at a step.
func (s *Sender) failed(step string, err error) *Error {
	answer, ok := errors.AsType[*textproto.Error](err)
	if !ok {
		if text := s.words(err.Error()); text != err.Error() { // it quotes the server
			err = errors.New(text)
		}
		return &Error{Step: step, Err: err}
	}
	e := &Error{Step: step, Code: answer.Code, Text: s.words(answer.Msg)}
	if m := enhanced.FindStringSubmatch(e.Text); m != nil {
		e.Enhanced = m[1]
	}
	e.Permanent = e.Code/100 == 5 && !e.ForAll() && !slowDown(e.Text)
	return e
}

// slowDown finds refusals for speed that come with a code for permanent ones. QQ
// answers "550 Ip frequency limited" and the like.
func slowDown(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "frequency limited") || strings.Contains(text, "too many") || strings.Contains(text, "rate limit")
}

// words cleans what a server says: one line, valid UTF-8, at most 500 bytes, and
// nothing of the password, should it be quoted.
func (s *Sender) words(text string) string {
	if p := s.c.Password; len(p) >= 4 { // shorter ones are in every word
		for _, secret := range []string{p, base64.StdEncoding.EncodeToString([]byte(p)), base64.StdEncoding.EncodeToString([]byte("\x00" + s.c.User + "\x00" + p))} {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return line(text, 500)
}

// line makes one line of a text: control characters and those that turn the
// direction become spaces, at most n bytes, cut at the edge of a character.
func line(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	end := 0
	for i, r := range text {
		if i+len(string(r)) > n-len("…") {
			break
		}
		end = i + len(string(r))
	}
	return text[:end] + "…"
}
