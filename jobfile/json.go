package jobfile

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// deepest is how deep an envelope may be: tokens have no bound of their own.
const deepest = 16

var errDeep = errors.New("nested too deeply")

// jsonReader reads token by token, for the line of each row.
type jsonReader struct {
	d     *json.Decoder
	text  string
	at    int // up to here lines were counted
	lines int
	found []row
}

// readJSON reads lists of jobs, and of executors if they are there, in whatever
// envelope a call put them; several may follow each other.
func readJSON(text string, executors map[int]string) ([]model.JobDoc, error) {
	r := &jsonReader{d: json.NewDecoder(strings.NewReader(text)), text: text}
	r.d.UseNumber()
	for r.next() != 0 {
		if err := r.value(0, nil); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			line := r.line(int(r.d.InputOffset()))
			if s, ok := errors.AsType[*json.SyntaxError](err); ok && int(s.Offset) >= r.at {
				line = r.line(int(s.Offset))
			}
			return nil, errorAt(line, "import.syntax", "Reason", err.Error())
		}
	}
	return fromRows(r.found, executors)
}

// line gives the line of an offset; offsets only grow.
func (r *jsonReader) line(offset int) int {
	offset = min(max(offset, r.at), len(r.text))
	r.lines += strings.Count(r.text[r.at:offset], "\n")
	r.at = offset
	return r.lines + 1
}

// next gives the character with which the next token begins, 0 at the end.
func (r *jsonReader) next() byte {
	rest := strings.TrimLeft(r.text[min(int(r.d.InputOffset()), len(r.text)):], " \t\n:,")
	if rest == "" {
		return 0
	}
	return rest[0]
}

// value reads one value: objects that are jobs or executors are kept, a plain one
// goes into plain.
func (r *jsonReader) value(depth int, plain *string) error {
	if depth > deepest {
		return errDeep
	}
	token, err := r.d.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return r.container(v, depth)
	case string:
		set(plain, v)
	case json.Number:
		set(plain, v.String())
	case bool:
		set(plain, strconv.FormatBool(v))
	}
	return nil
}

func set(dst *string, v string) {
	if dst != nil {
		*dst = v
	}
}

func (r *jsonReader) container(open json.Delim, depth int) error {
	line := r.line(int(r.d.InputOffset()))
	values := map[string]string{}
	for r.d.More() {
		if open == '[' {
			if err := r.value(depth+1, nil); err != nil {
				return err
			}
			continue
		}
		name, err := r.d.Token()
		if err != nil {
			return err
		}
		value := ""
		if err := r.value(depth+1, &value); err != nil {
			return err
		}
		// jobDesc and name may both be there: the one with a text counts.
		if column := columnOf(name.(string)); value != "" || values[column] == "" {
			values[column] = value
		}
	}
	_, job := values["glue_type"]
	_, group := values["app_name"]
	if job || group {
		r.found = append(r.found, row{line, values})
	}
	_, err := r.d.Token() // the closing bracket
	return err
}
