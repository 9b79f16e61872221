package views

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// Words puts what the center says of a run into a language, a line each. Instants are
// shown in the given zone.
func Words(l *i18n.Localizer, zone *time.Location, said ...model.Said) string {
	lines := make([]string, 0, len(said))
	for _, x := range said {
		key := "why." + x.Code
		if _, isReason := model.ReasonOf(x.Code); isReason && !l.Has(key) {
			key = "reason." + x.Code
		}
		if !l.Has(key) {
			// Written by a newer center, or by an executor that has words of its own.
			text, _ := x.Args["Text"].(string)
			lines = append(lines, cmp.Or(text, model.PlainWords(x)))
			continue
		}
		lines = append(lines, l.T(key, wordArgs(l, zone, x.Args)...))
	}
	return strings.Join(lines, "\n")
}

// wordArgs words the arguments: durations, instants, counts and enumerations as the
// language has them, the rest as it is.
func wordArgs(l *i18n.Localizer, zone *time.Location, args map[string]any) []any {
	var kv []any
	for name, v := range args {
		n, isNumber := whole(v)
		switch {
		case isNumber && strings.HasSuffix(name, "MS"):
			kv = append(kv, strings.TrimSuffix(name, "MS"), l.Millis(n))
		case isNumber && strings.HasSuffix(name, "At"):
			kv = append(kv, strings.TrimSuffix(name, "At"), i18n.DateTime(time.UnixMilli(n).In(zone)))
		case isNumber && name == "Count":
			kv = append(kv, name, l.Number(n))
		case name == "Strategy":
			text, _ := v.(string)
			if l.Has("enum." + text) {
				text = l.T("enum." + text)
			}
			kv = append(kv, name, text)
		case isNumber: // an id: JSON makes a float of it
			kv = append(kv, name, strconv.FormatInt(n, 10))
		default:
			kv = append(kv, name, v)
		}
	}
	return kv
}

// whole gives the whole number behind an argument: JSON has floats only.
func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case float64:
		return int64(n), true
	case int64:
		return n, true
	case int:
		return int64(n), true
	}
	return 0, false
}

// Cause says in words why a run ended as it did: first what its executor or handler
// wrote, as it is, then what the center says. Old rows and rows of others have only
// the text that was stored with them, which plain is.
func Cause(l *i18n.Localizer, zone *time.Location, r model.Run, plain func(string) string) (theirs, ours string) {
	if r.HandleMsg != "" && !r.Note.Own {
		theirs = plain(r.HandleMsg)
	}
	switch class := r.Class(); {
	case len(r.Note.Said) > 0:
		ours = Words(l, zone, r.Note.Said...)
	case class != model.ClassFailed && class != model.ClassNotSent, theirs != "" && r.Reason == "":
	case class == model.ClassFailed && r.HandleCode == 0 && r.TriggerMsg != "":
		ours = plain(r.TriggerMsg) // an old row, or one of others
	default:
		ours = reasonText(l, r.Outcome())
	}
	return theirs, ours
}

// shortReason says in two or three words why fires were not made or failed.
// ShortReason is the word for the reason of a run.
func ShortReason(l *i18n.Localizer, reason string) string { return shortReason(l, reason) }

func shortReason(l *i18n.Localizer, reason string) string {
	if key := "missed." + reason; l.Has(key) {
		return l.T(key)
	}
	return l.T("missed.other")
}

// conditionText says why the scheduler ended or quarantined a job. A text of an older
// center is shown as it is.
func (r JobRow) conditionText(p Page) string {
	return conditionText(p.L, p.Now.Location(), r.ConditionReason)
}

func conditionText(l *i18n.Localizer, zone *time.Location, reason string) string {
	if said, ok := model.DecodeSaid(reason); ok {
		return Words(l, zone, said)
	}
	return reason
}
