package app

import (
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// fieldTexts says what is wrong with the fields of an API call, in a fixed order.
func fieldTexts(l *i18n.Localizer, fields map[string]model.FieldError) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, name+": "+l.Error(fields[name].Key, fields[name].Args))
	}
	return strings.Join(out, "; ")
}
