package jobfile

import "strings"

type kind int

const (
	atEnd kind = iota
	aWord      // keyword, number
	aName      // `name`, "name"
	aText      // 'text'
	aMark      // any other character
)

type token struct {
	kind kind
	text string
	line int
}

// lexer cuts a dump into tokens. Comments are passed over, those that only MySQL
// reads as well.
type lexer struct {
	text        string
	at, line    int
	noBackslash bool
	err         error
}

func (l *lexer) next() token {
	l.blank()
	if l.at >= len(l.text) || l.err != nil {
		return token{kind: atEnd, line: l.line}
	}
	t := token{line: l.line}
	switch c := l.text[l.at]; {
	case c == '\'':
		t.kind, t.text = aText, l.quoted(c, !l.noBackslash)
	case c == '"':
		t.kind, t.text = aName, l.quoted(c, !l.noBackslash)
	case c == '`':
		t.kind, t.text = aName, l.quoted(c, false)
	case wordly(c):
		begin := l.at
		for l.at < len(l.text) && wordly(l.text[l.at]) {
			l.at++
		}
		t.kind, t.text = aWord, l.text[begin:l.at]
		// A number with a fraction is one word.
		if c >= '0' && c <= '9' && l.at+1 < len(l.text) && l.text[l.at] == '.' {
			for l.at++; l.at < len(l.text) && wordly(l.text[l.at]); l.at++ {
			}
			t.text = l.text[begin:l.at]
		}
	default:
		t.kind, t.text = aMark, string(c)
		l.at++
	}
	return t
}

func wordly(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '@' || c >= 0x80
}

// blank passes over blanks and comments.
func (l *lexer) blank() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch c := rest[0]; {
		case c == '\n':
			l.line++
			l.at++
		case c == ' ' || c == '\t':
			l.at++
		case c == '#' || strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] == ' ' || rest[2] == '\t' || rest[2] == '\n'):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				l.err = errorAt(l.line, "import.sql", "Reason", "a comment does not end")
				return
			}
			l.line += strings.Count(rest[:end], "\n")
			l.at += end + 2
		default:
			return
		}
	}
}

// quoted reads up to the closing quote; a doubled one stands for itself.
func (l *lexer) quoted(quote byte, backslash bool) string {
	begin := l.line
	var b strings.Builder
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; {
		case c == quote && l.at+1 < len(l.text) && l.text[l.at+1] == quote:
			b.WriteByte(quote)
			l.at++
		case c == quote:
			l.at++
			return b.String()
		case c == '\\' && backslash && l.at+1 < len(l.text):
			l.at++
			b.WriteString(unescape(l.text[l.at]))
			if l.text[l.at] == '\n' {
				l.line++
			}
		default:
			if c == '\n' {
				l.line++
			}
			b.WriteByte(c)
		}
	}
	l.err = errorAt(begin, "import.sql", "Reason", "a text does not end")
	return ""
}

// unescape says what a character behind a backslash stands for in MySQL.
func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '0':
		return "\x00"
	case 'b':
		return "\b"
	case 'Z':
		return "\x1a"
	case '%', '_':
		return "\\" + string(c)
	}
	return string(c)
}
