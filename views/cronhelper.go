package views

import "strconv"

// cronUnit is one tab of the cron helper: a field of the expression.
type cronUnit struct {
	Name     string
	Min, Max int
	// Kinds are the choices, as static/app/cron.js knows them.
	Kinds []string
}

// cronUnits are the tabs that people know, in the order of the fields.
func cronUnits() []cronUnit {
	return []cronUnit{
		{"second", 0, 59, []string{"every", "range", "step", "pick"}},
		{"minute", 0, 59, []string{"every", "range", "step", "pick"}},
		{"hour", 0, 23, []string{"every", "range", "step", "pick"}},
		{"day", 1, 31, []string{"every", "none", "range", "step", "nearest", "last", "lastwork", "pick"}},
		{"month", 1, 12, []string{"every", "range", "step", "pick"}},
		{"weekday", 1, 7, []string{"none", "range", "step", "lastof", "nth", "pick"}},
		{"year", 1970, 9999, []string{"none", "every", "range"}},
	}
}

// values are what can be picked.
func (u cronUnit) values() []int {
	out := make([]int, 0, u.Max-u.Min+1)
	for v := u.Min; v <= u.Max; v++ {
		out = append(out, v)
	}
	return out
}

// cronValue is a value of a unit in words.
func (v JobForm) cronValue(unit string, n int) string {
	switch unit {
	case "weekday":
		return v.T("weekday." + itoa(n))
	case "day", "month", "year":
		return itoa(n)
	}
	return twoDigits(n)
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// cronNumbers says how many numbers a choice takes.
func cronNumbers(kind string) int {
	switch kind {
	case "range", "step", "nth":
		return 2
	case "nearest", "lastof":
		return 1
	}
	return 0
}

// cronPresets are the schedules that most jobs have.
func cronPresets() []string {
	return []string{"seconds", "minutes", "hours", "daily", "weekdays", "weekly", "monthly", "lastday"}
}

// least and most bound the number at place i of a choice.
func (u cronUnit) least(kind string, i int) int {
	if i == 1 && kind != "range" {
		return 1
	}
	return u.Min
}

func (u cronUnit) most(kind string, i int) int {
	if kind == "nth" && i == 1 {
		return 5
	}
	return u.Max
}

// cronKind is a choice in words. The names of the days have a wording of their own.
func (v JobForm) cronKind(unit, kind string) string {
	if key := "cron.kind." + kind + "_" + unit; v.L.Has(key) {
		return v.T(key)
	}
	return v.T("cron.kind." + kind)
}

// cronPart names a number of a choice for who does not see where it stands.
func (v JobForm) cronPart(kind string, i int) string {
	switch {
	case kind == "range" && i == 1:
		return v.T("cron.part_to")
	case kind == "step" && i == 1:
		return v.T("cron.part_n")
	case kind == "nth" && i == 1:
		return v.T("cron.part_nth")
	case kind == "nearest":
		return v.T("cron.part_day")
	case kind == "lastof", kind == "nth":
		return v.T("cron.part_weekday")
	}
	return v.T("cron.part_from")
}

func boolText(b bool) string { return strconv.FormatBool(b) }

func tabIndex(active bool) string {
	if active {
		return "0"
	}
	return "-1"
}
