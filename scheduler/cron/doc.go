// Package cron understands the cron dialect of the scheduling center: six or
// seven fields, seconds first, Quartz style. It computes instants and never
// reads the clock.
//
//	expr   = [zone SP] sec SP min SP hour SP day SP month SP weekday [SP year]
//	zone   = "CRON_TZ=" Area/City      the zone of the given time when absent
//	list   = item *("," item)
//	item   = "*" | "*/"S | "/"S | V | V"/"S | V"-"V | V"-"V"/"S
//	day    = "?" | list, where an item may also be L | L-n | LW | L-nW | nW
//	weekday= "?" | "L" | list | dL | d#k            the last two stand alone
//
// SP is one or more blanks or tabs; letters may be lower case.
//
//	second, minute  0-59
//	hour            0-23
//	day             1-31
//	month           1-12 or JAN-DEC
//	weekday         1-7 or SUN-SAT, 1 is Sunday
//	year            1970-9999, may be left out
//
// Exactly one of day and weekday is "?". V/S counts from V to the end of the
// field. A range may wrap around (22-2, FRI-MON) except for years, and a step
// counts on inside the wrapped range: 22-2/2 is 22, 0, 2. Names take no step
// and do not mix with numbers in one range.
//
// L is the last day of the month, L-2 two days before it, 15W the weekday
// (Monday to Friday) nearest to the 15th without leaving the month, LW the last
// weekday; as a weekday L is Saturday, 6L the last Friday, 6#3 the third one. A
// month without such a day is skipped.
//
// A schedule follows the wall clock of its zone. A time that daylight saving
// leaves out is skipped on that day; a time that happens twice fires once, on
// the second pass.
package cron
