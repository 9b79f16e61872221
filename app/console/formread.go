package console

import (
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// formRead is a form as it was typed: the values by field, and what is wrong with them.
type formRead struct {
	r              *request
	Values, Errors map[string]string
}

// readForm takes the fields that hold one text each.
func (r *request) readForm(fields ...string) formRead {
	t := formRead{r, map[string]string{}, map[string]string{}}
	for _, name := range fields {
		t.Values[name] = r.FormValue(name)
	}
	return t
}

// number reads a whole number; nothing is 0.
func (t formRead) number(field string) int {
	text := strings.TrimSpace(t.Values[field])
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Errors[field] = t.r.loc.T("field.number")
	}
	return n
}

// set reports whether a box was ticked.
func (t formRead) set(field string) bool { return t.Values[field] != "" }

// job reads a job by number or name; nothing is 0.
func (t formRead) job(c *Console, field string) (int, error) {
	id, err := c.svc.JobNamed(t.r.Request().Context(), t.r.actor(), t.Values[field])
	if code := model.CodeOf(err); err != nil && (code == model.CodeNotFound || code == model.CodeConflict) {
		t.Errors[field] = message(t.r.loc, err)
		return 0, nil
	}
	return id, err
}

// shownNumber is a number as a field shows it: nothing for 0.
func shownNumber(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// shownJob is a job as a field shows it and takes it back.
func shownJob(id int, name string) string {
	if id == 0 || name == "" {
		return shownNumber(id)
	}
	return strconv.Itoa(id) + " · " + name
}
