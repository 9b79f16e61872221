package mail_test

import (
	"bytes"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/mail"
	"github.com/jhillyerd/enmime/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

// through sends a mail to go-smtp and reads it back with a foreign parser.
func through(t *testing.T, m mail.Message) (*enmime.Envelope, []byte) {
	t.Helper()
	b := &backend{}
	_, err := sender(t, serve(t, b, nil, false), nil).Send(t.Context(), m)
	require.NoError(t, err)
	require.Len(t, b.all(), 1)
	return read(t, b.mails[0].raw), b.mails[0].raw
}

func read(t *testing.T, raw []byte) *enmime.Envelope {
	t.Helper()
	e, err := enmime.ReadEnvelope(bytes.NewReader(raw))
	require.NoError(t, err)
	assert.Empty(t, e.Errors)
	head, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
		assert.LessOrEqual(t, len(line), 998, "RFC 5322, 2.1.1")
		assert.NotContains(t, string(line), "\n")
	}
	assert.Equal(t, strings.Map(func(r rune) rune {
		if r > 0x7e {
			return -1
		}
		return r
	}, string(head)), string(head), "headers are ASCII")
	return e
}

func full() mail.Message {
	m := sample()
	m.Subject = "任务 42「每日對帳」失敗"
	m.Text = "任务失败。\n\n最后的日志:\n.\n..\n<script>alert(1)</script>\n" + strings.Repeat("行", 2000)
	m.HTML = `<p>任务失败。<img src="cid:chart@carillon" width="600" alt="3 of 5"></p>`
	m.References = []string{"inc-7@carillon.example.com", "inc-7-opened@carillon.example.com"}
	m.ID = "inc-7-resolved@carillon.example.com"
	m.Images = []mail.Image{{CID: "chart@carillon", Name: "chart.png", Type: "image/png", Data: pixel}}
	m.Files = []mail.File{{Name: "报表 03.xlsx", Type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", Data: []byte("PK\x03\x04")}}
	m.Headers = map[string]string{"List-Unsubscribe": "<https://carillon.example.com/u/1>", "X-Carillon-Job": "42 每日對帳\r\nBcc: evil@example.com"}
	return m
}

func TestAMailIsReadBackByAForeignParser(t *testing.T) {
	m := full()
	e, raw := through(t, m)
	for header, want := range map[string]string{
		"Subject": m.Subject, "To": "<li.lei@example.com>", "From": `Carillon 报警 <alarm@example.com>`,
		"Message-ID": "<inc-7-resolved@carillon.example.com>", "In-Reply-To": "<inc-7-opened@carillon.example.com>",
		"References": "<inc-7@carillon.example.com> <inc-7-opened@carillon.example.com>", "Date": "Wed, 04 Mar 2026 05:06:07 +0800",
		"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All", "Precedence": "bulk", "MIME-Version": "1.0",
		"List-Unsubscribe": "<https://carillon.example.com/u/1>", "X-Carillon-Job": "42 每日對帳 Bcc: evil@example.com", "Bcc": "", "X-Mailer": "", "User-Agent": "",
	} {
		assert.Equal(t, want, e.GetHeader(header), header)
	}
	assert.Equal(t, m.Text, strings.TrimRight(strings.ReplaceAll(e.Text, "\r\n", "\n"), "\n"))
	assert.Equal(t, m.HTML, strings.TrimRight(e.HTML, "\r\n"))
	require.Len(t, e.Inlines, 1)
	assert.Equal(t, "chart@carillon", e.Inlines[0].ContentID)
	assert.Equal(t, "image/png", e.Inlines[0].ContentType)
	assert.Equal(t, pixel, e.Inlines[0].Content)
	require.Len(t, e.Attachments, 1)
	assert.Equal(t, "报表 03.xlsx", e.Attachments[0].FileName)
	assert.Equal(t, []byte("PK\x03\x04"), e.Attachments[0].Content)
	// The standard library agrees on the structure, and plain comes before HTML.
	std, err := netmail.ReadMessage(bytes.NewReader(raw))
	require.NoError(t, err)
	assert.Contains(t, std.Header.Get("Content-Type"), "multipart/mixed")
	assert.Less(t, bytes.Index(raw, []byte("text/plain")), bytes.Index(raw, []byte("text/html")))
	assert.Less(t, bytes.Index(raw, []byte("multipart/related")), bytes.Index(raw, []byte("multipart/alternative")))
}

func TestTextOnly(t *testing.T) {
	m := sample()
	m.HTML = ""
	e, raw := through(t, m)
	assert.Empty(t, e.HTML)
	assert.Equal(t, m.Text, strings.TrimRight(strings.ReplaceAll(e.Text, "\r\n", "\n"), "\n"))
	assert.NotContains(t, string(raw), "multipart")
	assert.Contains(t, string(raw), "It failed.", "readable on the wire")
	assert.Empty(t, e.GetHeader("References"))
}

func TestSubjects(t *testing.T) {
	for in, want := range map[string]string{
		"Job 42 “nightly” failed ✗":                "Job 42 “nightly” failed ✗",
		"任务「每日对账」失败":                               "任务「每日对账」失败",
		"工作「每日對帳」失敗":                               "工作「每日對帳」失敗",
		"a\r\nBcc: evil@example.com":               "a Bcc: evil@example.com",
		"a\nb\tc\x00d\u2028e\u202ef":               "a b c d e f",
		"=?utf-8?q?a=0d=0aBcc:_evil@example.com?=": "= ?utf-8?q?a=0d=0aBcc:_evil@example.com?=",
		"a\xff\xfeb":                                         "a\uFFFDb",
		strings.Repeat("很长的标题", 60):                          "", // cut
		strings.Repeat("x", 1200):                            "",
		strings.Repeat("word ", 60) + "end":                  strings.Repeat("word ", 60) + "end",
		strings.TrimSpace(strings.Repeat("對帳 nightly ", 20)): strings.TrimSpace(strings.Repeat("對帳 nightly ", 20)),
	} {
		m := sample()
		m.Subject = in
		e, raw := through(t, m)
		head, _, _ := strings.Cut(string(raw), "\r\n\r\n")
		for line := range strings.SplitSeq(head, "\r\n") {
			if !strings.HasPrefix(in, "xxx") {
				assert.LessOrEqual(t, len(line), 120, "folded: %s", line)
			}
			assert.False(t, strings.HasPrefix(strings.ToLower(line), "bcc:"), line)
		}
		if want != "" {
			assert.Equal(t, want, e.GetHeader("Subject"))
		} else {
			assert.NotEmpty(t, e.GetHeader("Subject"))
			assert.NotContains(t, e.GetHeader("Subject"), "\uFFFD", "cut at the edge of a character")
		}
		assert.Empty(t, e.GetHeader("Bcc"))
	}
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	port, count := play(t, nil)
	for name, change := range map[string]func(m *mail.Message){
		"to a list":           func(m *mail.Message) { m.To = "a@example.com, b@example.com" },
		"to nobody":           func(m *mail.Message) { m.To = "" },
		"to two lines":        func(m *mail.Message) { m.To = "a@example.com>\r\nRCPT TO:<b@example.com" },
		"no id":               func(m *mail.Message) { m.ID = "" },
		"id with a line":      func(m *mail.Message) { m.ID = "a@b.c>\r\nBcc: <x@y.z" },
		"id with brackets":    func(m *mail.Message) { m.ID = "<a@b.c>" },
		"reference":           func(m *mail.Message) { m.References = []string{"a b@c"} },
		"header twice":        func(m *mail.Message) { m.Headers = map[string]string{"bcc": "x@y.z"} },
		"header of a part":    func(m *mail.Message) { m.Headers = map[string]string{"Content-Type": "text/html"} },
		"header with a line":  func(m *mail.Message) { m.Headers = map[string]string{"X-A: 1\r\nBcc": "x@y.z"} },
		"header without name": func(m *mail.Message) { m.Headers = map[string]string{"": "x"} },
		"picture":             func(m *mail.Message) { m.Images = []mail.Image{{CID: "a>\r\nX: 1", Type: "image/png"}} },
		"type":                func(m *mail.Message) { m.Files = []mail.File{{Name: "a", Type: "text/plain\r\nX: 1"}} },
		"no time":             func(m *mail.Message) { m.At = time.Time{} },
	} {
		m := sample()
		change(&m)
		e := failure(t, sender(t, port, nil), m)
		assert.Equal(t, mail.StepMessage, e.Step, name)
		assert.True(t, e.Permanent, name)
		assert.False(t, e.ForAll(), name)
	}
	assert.Zero(t, count(), "nobody was called")
}

func TestHostileTexts(t *testing.T) {
	m := sample()
	m.Text = "a\x00b\x1b[31m\x07\r\n.\r\nQUIT\r\n" + strings.Repeat("x", 1<<20) + "\xff"
	m.HTML = "<pre>" + m.Text + "</pre>"
	m.Images = []mail.Image{{CID: "c", Name: "a\"\r\nX-Evil: 1.png", Type: "image/png", Data: pixel}}
	m.Files = []mail.File{{Name: "../../b\r\nX-Evil: 1", Type: "text/plain", Data: []byte("x")}}
	e, raw := through(t, m)
	assert.True(t, strings.HasPrefix(strings.ReplaceAll(e.Text, "\r\n", "\n"), "ab[31m\n.\nQUIT\nxxx"), e.Text[:40])
	assert.Len(t, strings.ReplaceAll(strings.TrimRight(e.Text, "\r\n"), "\r\n", "\n"), len("ab[31m\n.\nQUIT\n")+1<<20+len("\uFFFD"))
	for line := range strings.SplitSeq(string(raw), "\r\n") {
		assert.False(t, strings.HasPrefix(line, "X-Evil"), line)
	}
}
