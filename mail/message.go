package mail

import (
	"bytes"
	"fmt"
	"maps"
	netmail "net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// Message is one mail to one person.
type Message struct {
	To string // one plain address, see CheckAddress
	// Subject may be any text; it becomes one line.
	Subject string
	Text    string // plain text; the first part
	HTML    string // the second part; "" = none
	// ID is the Message-ID without < >, the same on every try: mailboxes show a mail
	// that arrives twice once.
	ID         string
	References []string  // ids without < > of the mails before, the thread's root first
	At         time.Time // header Date
	Images     []Image   // shown in HTML as <img src="cid:…">
	Files      []File
	// Headers are more headers. Those that the mail has anyway are refused.
	Headers map[string]string
}

// Image is a picture inside of a mail.
type Image struct {
	CID  string // letters, digits and . _ - @
	Name string // file name
	Type string // such as image/png
	Data []byte
}

// File is an attachment.
type File struct {
	Name string
	Type string
	Data []byte
}

// How long they may be. A pattern with such numbers would take half a megabyte.
const (
	idLength     = 250
	cidLength    = 120
	headerLength = 76
)

var (
	idForm     = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+/=?^_{|}~.-]+@[A-Za-z0-9.-]+$`)
	cidForm    = regexp.MustCompile(`^[A-Za-z0-9._@-]+$`)
	typeForm   = regexp.MustCompile(`^[a-z]+/[A-Za-z0-9.+-]+$`)
	headerForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)
)

// own are headers that Message has fields for, or that belong to the way of a mail.
var own = []string{"from", "to", "cc", "bcc", "sender", "reply-to", "return-path", "subject", "date", "message-id", "in-reply-to", "references",
	"mime-version", "auto-submitted", "precedence", "x-auto-response-suppress", "received", "dkim-signature"}

// render writes the mail down, headers and all.
func (s *Sender) render(m Message) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, &Error{Step: StepMessage, Permanent: true, Err: err}
	}
	// Header texts in base64: in Chinese that is half of what quoted-printable takes.
	out := gomail.NewMsg(gomail.WithEncoding(gomail.EncodingB64), gomail.WithNoDefaultUserAgent())
	out.FromMailAddress(s.from)
	out.ToMailAddress(&netmail.Address{Address: m.To})
	out.Subject(headerText(m.Subject, 400))
	out.SetDateWithValue(m.At)
	out.SetMessageIDWithValue(m.ID)
	if len(m.References) > 0 {
		ids := make([]string, len(m.References))
		for i, id := range m.References {
			ids[i] = "<" + id + ">"
		}
		out.SetGenHeader(gomail.HeaderInReplyTo, ids[len(ids)-1])
		out.SetGenHeader(gomail.HeaderReferences, strings.Join(ids, " "))
	}
	out.SetBulk() // Precedence and X-Auto-Response-Suppress: no replies from people on holiday
	out.SetGenHeader("Auto-Submitted", "auto-generated")
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		out.SetGenHeader(gomail.Header(name), headerText(m.Headers[name], 900))
	}
	text := plain(m.Text)
	out.SetBodyString(gomail.TypeTextPlain, text, gomail.WithPartEncoding(encodingOf(text)))
	if m.HTML != "" {
		html := plain(m.HTML)
		out.AddAlternativeString(gomail.TypeTextHTML, html, gomail.WithPartEncoding(encodingOf(html)))
	}
	for _, i := range m.Images {
		out.EmbedReadSeeker(fileName(i.Name, i.CID), bytes.NewReader(i.Data), gomail.WithFileContentID(i.CID), gomail.WithFileContentType(gomail.ContentType(i.Type)))
	}
	for _, f := range m.Files {
		out.AttachReadSeeker(fileName(f.Name, "file"), bytes.NewReader(f.Data), gomail.WithFileContentType(gomail.ContentType(f.Type)))
	}
	var b bytes.Buffer
	if _, err := out.WriteTo(&b); err != nil {
		return nil, &Error{Step: StepMessage, Permanent: true, Err: err}
	}
	return b.Bytes(), nil
}

func (m Message) check() error {
	if err := CheckAddress(m.To); err != nil {
		return err
	}
	if m.At.IsZero() {
		return fmt.Errorf("a mail needs its time")
	}
	if len(m.ID) > idLength || !idForm.MatchString(m.ID) {
		return fmt.Errorf("message id %q is not of the form name@domain", m.ID)
	}
	for _, id := range m.References {
		if len(id) > idLength || !idForm.MatchString(id) {
			return fmt.Errorf("reference %q is not of the form name@domain", id)
		}
	}
	for name := range m.Headers {
		if lower := strings.ToLower(name); len(name) > headerLength || !headerForm.MatchString(name) || slices.Contains(own, lower) || strings.HasPrefix(lower, "content-") {
			return fmt.Errorf("header %q cannot be set", name)
		}
	}
	for _, i := range m.Images {
		if len(i.CID) > cidLength || !cidForm.MatchString(i.CID) || !typeForm.MatchString(i.Type) {
			return fmt.Errorf("picture %q of type %q cannot be sent", i.CID, i.Type)
		}
	}
	for _, f := range m.Files {
		if !typeForm.MatchString(f.Type) {
			return fmt.Errorf("file %q of type %q cannot be sent", f.Name, f.Type)
		}
	}
	return nil
}

// plain drops what no mail should carry: control characters but line breaks and
// tabs, and broken UTF-8.
func plain(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r != '\n' && r != '\t' && unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
}

// encodingOf keeps texts in Latin script readable on the wire; Chinese takes less
// room as base64.
func encodingOf(s string) gomail.Encoding {
	wide := 0
	for i := range len(s) {
		if s[i] >= 0x80 {
			wide++
		}
	}
	if wide*6 > len(s) {
		return gomail.EncodingB64
	}
	return gomail.EncodingQP
}

func fileName(name, otherwise string) string {
	if name = line(name, 150); name == "" {
		return otherwise
	}
	return name
}

// headerText is line for what stands in a header: nothing in it is read as an encoded
// word that others wrote.
func headerText(s string, n int) string { return line(strings.ReplaceAll(s, "=?", "= ?"), n) }
