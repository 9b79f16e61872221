package jobfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

var sqlStart = regexp.MustCompile(`(?i)^(?:#[^\n]*\n|\s)*(?:--[ \t\n]|/\*|(?:insert|replace|create|drop|set|use|lock|begin|start|pragma|delete|truncate|alter)\s)`)

func looksLikeSQL(text string) bool { return sqlStart.MatchString(text) }

// jobColumns is the order of the table in all generations from 2.3 to 3.4, for dumps
// that name no columns.
func jobColumns() []string {
	return []string{
		"id", "job_group", "job_desc", "add_time", "update_time", "author", "alarm_email", "schedule_type", "schedule_conf", "misfire_strategy",
		"executor_route_strategy", "executor_handler", "executor_param", "executor_block_strategy", "executor_timeout", "executor_fail_retry_count",
		"glue_type", "glue_source", "glue_remark", "glue_updatetime", "child_jobid", "trigger_status", "trigger_last_time", "trigger_next_time",
	}
}

// readSQL reads the INSERT statements for jobs and executors of a dump; all others
// are passed over.
func readSQL(text string, executors map[int]string) ([]model.JobDoc, error) {
	p := &sqlReader{lexer: lexer{text: text, line: 1}, columns: map[string][]string{
		"xxl_job_info": jobColumns(), "xxl_job_group": {"id", "app_name"},
	}}
	// Dumps of SQLite know no backslash in texts.
	p.noBackslash = strings.HasPrefix(strings.ToUpper(strings.TrimSpace(text)), "PRAGMA")
	p.step()
	for p.tok.kind != atEnd && p.err == nil {
		p.statement()
	}
	if p.err != nil {
		return nil, p.err
	}
	return fromRows(p.found, executors)
}

// sqlReader reads statements.
type sqlReader struct {
	lexer
	tok     token
	columns map[string][]string
	found   []row
}

func (p *sqlReader) step() { p.tok = p.lexer.next() }

func (p *sqlReader) is(words ...string) bool {
	return p.tok.kind == aWord && slices.Contains(words, strings.ToLower(p.tok.text))
}

func (p *sqlReader) mark(c string) bool { return p.tok.kind == aMark && p.tok.text == c }

func (p *sqlReader) fail(what string) {
	if p.err == nil {
		p.err = errorAt(p.tok.line, "import.sql", "Reason", what)
	}
}

func (p *sqlReader) statement() {
	switch {
	case p.is("insert", "replace"):
		p.step()
		for p.is("ignore", "low_priority", "delayed", "or", "replace") {
			p.step()
		}
		if p.is("into") {
			p.step()
			p.insert()
		}
	case p.is("create"):
		p.step()
		if p.is("table") {
			p.step()
			p.create()
		}
	}
	for !p.mark(";") && p.tok.kind != atEnd && p.err == nil {
		p.step()
	}
	if p.mark(";") {
		p.step()
	}
}

// table reads a name, with that of its database before it.
func (p *sqlReader) table() string {
	name := strings.ToLower(p.tok.text)
	for p.step(); p.mark("."); p.step() {
		p.step()
		name = strings.ToLower(p.tok.text)
	}
	return name
}

// create notes the columns of a table that is wanted.
func (p *sqlReader) create() {
	for p.is("if", "not", "exists") {
		p.step()
	}
	name := p.table()
	if _, wanted := p.columns[name]; !wanted || !p.mark("(") {
		return
	}
	var columns []string
	depth, begins := 1, true
	for p.step(); depth > 0 && p.tok.kind != atEnd && p.err == nil; p.step() {
		switch {
		case p.mark("("):
			depth++
		case p.mark(")"):
			depth--
		case p.mark(",") && depth == 1:
			begins = true
			continue
		case begins && (p.tok.kind == aName || p.tok.kind == aWord && !p.is("primary", "key", "unique", "constraint", "index", "fulltext", "check", "foreign")):
			columns = append(columns, strings.ToLower(p.tok.text))
		}
		begins = false
		if depth == 0 {
			break
		}
	}
	p.columns[name] = columns
}

func (p *sqlReader) insert() {
	name := p.table()
	columns, wanted := p.columns[name]
	if !wanted {
		return
	}
	named := false
	if p.mark("(") {
		columns, named = nil, true
		for p.step(); !p.mark(")") && p.tok.kind != atEnd && p.err == nil; p.step() {
			if !p.mark(",") {
				columns = append(columns, strings.ToLower(p.tok.text))
			}
		}
		p.step()
	}
	if !p.is("values", "value") {
		p.fail("VALUES is missing")
		return
	}
	for p.step(); p.mark("(") && p.err == nil; {
		r := row{p.tok.line, map[string]string{}}
		n := 0
		for p.step(); p.err == nil; p.step() {
			if v, null := p.value(); n < len(columns) && !null {
				r.values[columns[n]] = v
			}
			n++
			if p.mark(")") || !p.mark(",") {
				break
			}
		}
		if !p.mark(")") {
			p.fail("a list of values does not end")
			return
		}
		if short := name == "xxl_job_group" && !named; n != len(columns) && !short {
			p.err = errorAt(r.line, "import.sql_columns", "Values", n, "Columns", len(columns))
			return
		}
		if name == "xxl_job_info" && r.values["glue_type"] == "" {
			p.err = errorAt(r.line, "import.key_missing", "Name", "glue_type")
			return
		}
		p.found = append(p.found, r)
		if p.step(); p.mark(",") {
			p.step()
		}
	}
}

// value reads one value and goes to what stands behind it.
func (p *sqlReader) value() (text string, null bool) {
	for p.is("_binary", "_utf8mb4", "_utf8", "n") { // said of the text that follows
		p.step()
	}
	sign := ""
	if p.mark("-") || p.mark("+") {
		sign = strings.TrimPrefix(p.tok.text, "+")
		p.step()
	}
	switch {
	case p.tok.kind == aText:
		text = p.tok.text
	case p.tok.kind == aName: // "text" in MySQL
		text = p.tok.text
	case p.is("null", "default"):
		null = true
	case p.tok.kind == aWord:
		text = sign + p.tok.text
	default:
		p.fail("a value is missing")
		return "", true
	}
	p.step()
	for depth := 0; (p.mark("(") || depth > 0) && p.tok.kind != atEnd; p.step() { // now(), from_unixtime(1)
		if p.mark("(") {
			depth++
		} else if p.mark(")") {
			depth--
			if depth == 0 {
				p.step()
				return text, null
			}
		}
	}
	return text, null
}
