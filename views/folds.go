package views

import (
	"encoding/json"
	"strings"
)

// fold is a group of options that most leave as they are. Its line says what is set.
type fold struct {
	Name   string
	Fields []string
	Sums   []sum
}

// sum is how a field shows in the line of its group: % stands for its value, and with the
// value Skip it does not show, nor while the number Needs is 0 or empty. With Zero a value of
// 0 shows as that. Of boxes with one name it shows how many are ticked. folds.js does the
// same while somebody types.
type sum struct{ Name, Text, Skip, Needs, Zero string }

// line says what is set in a group; shown puts the value of a field as people read it.
func (f fold) line(p Page, values map[string]string, shown func(name, value string) string) string {
	var parts []string
	for _, s := range f.Sums {
		value := strings.TrimSpace(values[s.Name])
		need := strings.TrimSpace(values[s.Needs])
		if value != "" && value != s.Skip && (s.Needs == "" || need != "" && need != "0") {
			text := strings.ReplaceAll(s.Text, "%", shown(s.Name, value))
			if value == "0" && s.Zero != "" {
				text = s.Zero
			}
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return p.T("form.sum_none")
	}
	return strings.Join(parts, " · ")
}

// sums is the same as data for the browser.
func (f fold) sums() string {
	all := make([][5]string, len(f.Sums))
	for i, s := range f.Sums {
		all[i] = [5]string{s.Name, s.Text, s.Skip, s.Needs, s.Zero}
	}
	return asJSON(all)
}

func asJSON(v any) string {
	raw, _ := json.Marshal(v) // plain strings always marshal
	return string(raw)
}
