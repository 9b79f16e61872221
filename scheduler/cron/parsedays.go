package cron

import "strings"

// parseDay reads the day of month field.
func (d *days) parseDay(text string) error {
	if text == "?" {
		return nil
	}
	for item := range strings.SplitSeq(text, ",") {
		if err := d.parseDayItem(item); err != nil {
			return err
		}
	}
	return nil
}

func (d *days) parseDayItem(item string) error {
	body, near := strings.CutSuffix(item, "W")
	if rest, ok := strings.CutPrefix(body, "L"); ok {
		n := 0
		if rest != "" {
			text, ok := strings.CutPrefix(rest, "-")
			if !ok {
				return fail(ErrSyntax, "item", item)
			}
			var err error
			if n, err = number(text, item, 0, 30, ErrOffset); err != nil {
				return err
			}
		}
		if near {
			d.lastNearest |= 1 << n
		} else {
			d.last |= 1 << n
		}
		return nil
	}
	f := &fields[day]
	if near && isDigits(body) {
		v, err := number(body, item, f.min, f.max, ErrRange)
		if err == nil {
			d.nearest |= 1 << v
		}
		return err
	}
	s, err := f.item(item)
	if err == nil {
		d.plain |= f.mask(s)
	}
	return err
}

// parseWeekday reads the day of week field.
func (d *days) parseWeekday(text string) error {
	if text == "?" {
		return nil
	}
	f := &fields[weekday]
	if item, ok := alone(text); ok {
		return fail(ErrAlone, "item", item)
	}
	if text == "L" {
		d.weekday = 1 << f.max
		return nil
	}
	if head, k, ok := strings.Cut(text, "#"); ok {
		v, _, err := f.value(head, text)
		if err != nil {
			return err
		}
		d.weekday = 1 << v
		d.nth, err = number(k, text, 1, 5, ErrNth)
		return err
	}
	if head, ok := strings.CutSuffix(text, "L"); ok {
		v, _, err := f.value(head, text)
		d.weekday, d.nth = 1<<v, lastWeek
		return err
	}
	return f.list(text, func(s span) { d.weekday |= f.mask(s) })
}

// alone finds an item of a list that may not be in one: L, dL or d#k.
func alone(text string) (string, bool) {
	if !strings.Contains(text, ",") {
		return "", false
	}
	for item := range strings.SplitSeq(text, ",") {
		if strings.ContainsAny(item, "L#") {
			return item, true
		}
	}
	return "", false
}
