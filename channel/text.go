package channel

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// mobileForm keeps "all" and other names that robots know out of the mentions.
var mobileForm = regexp.MustCompile(`^\+?[0-9-]{5,20}$`)

// clean drops what no message should carry: broken UTF-8, control characters but line
// breaks and tabs, characters that turn the direction of writing.
func (m Message) clean() Message {
	m.Title = oneLine(m.Title)
	m.Text = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(m.Text, "\uFFFD"), "\r\n", "\n")))
	m.Link = oneLine(m.Link)
	var mobiles []string
	for _, mobile := range m.MobileMentions {
		if mobileForm.MatchString(mobile) && len(mobiles) < 50 {
			mobiles = append(mobiles, mobile)
		}
	}
	m.MobileMentions = mobiles
	return m
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))), " ")
}

// size of a character in the unit that a channel counts.
type size func(r rune) int

func inBytes(r rune) int { return utf8.RuneLen(r) }

// inUnits counts UTF-16 units, as Telegram, Discord and Slack do.
func inUnits(r rune) int { return max(utf16.RuneLen(r), 1) }

// inJSON counts the bytes of a JSON string.
func inJSON(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\t' || r == '\r':
		return 2
	case r < 0x20 || r == '\u2028' || r == '\u2029':
		return 6
	}
	return utf8.RuneLen(r)
}

func (f size) of(s string) (n int) {
	for _, r := range s {
		n += f(r)
	}
	return n
}

// cut shortens a text to n units at the edge of a character, and of an emoji made of
// several.
func (f size) cut(s string, n int) string {
	used, end := 0, 0
	for i, r := range s {
		if used += f(r); used > n {
			break
		}
		end = i + utf8.RuneLen(r) // valid UTF-8 only, see clean
	}
	for end > 0 && end < len(s) && joined(s[:end], s[end:]) {
		_, w := utf8.DecodeLastRuneInString(s[:end])
		end -= w
	}
	return s[:end]
}

// joined says that a cut between the two would tear a character apart that people see
// as one: marks, skin tones, families, flags.
func joined(before, after string) bool {
	const joiner = '\u200d'
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case last == joiner || next == joiner, unicode.In(next, unicode.Mn, unicode.Me, unicode.Mc), next >= 0x1F3FB && next <= 0x1F3FF, next >= 0xE0020 && next <= 0xE007F:
		return true
	case isFlag(last) && isFlag(next):
		flags := 0
		for before != "" {
			r, w := utf8.DecodeLastRuneInString(before)
			if !isFlag(r) {
				break
			}
			flags, before = flags+1, before[:len(before)-w]
		}
		return flags%2 == 1
	}
	return false
}

func isFlag(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return size(inBytes).cut(s, n-len("…")) + "…"
}

// fit cuts a text to n units. What was cut ends with "… " and the link, where the
// whole text is.
func (f size) fit(s, link string, n int) string {
	if f.of(s) <= n {
		return s
	}
	end := "…"
	if link != "" && f.of(link) <= n/2 {
		end = "… " + link
	}
	return strings.TrimRightFunc(f.cut(s, n-f.of(end)), unicode.IsSpace) + end
}

// whole is title, text and link as one text of at most n units.
func (f size) whole(m Message, n int) string {
	s := m.Title
	if m.Text != "" {
		s += "\n\n" + m.Text
	}
	switch used := f.of(s); {
	case m.Link == "":
		return f.fit(s, "", n)
	case used+f('\n')+f.of(m.Link) <= n:
		return s + "\n" + m.Link
	default: // cut in any case: the link needs room
		return f.fit(s, m.Link, min(n, max(used-1, 1)))
	}
}
