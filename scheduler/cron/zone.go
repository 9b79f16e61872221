package cron

import (
	"math"
	"time"
)

func offsetAt(unix int64, zone *time.Location) int64 {
	if zone == time.UTC {
		return 0
	}
	_, offset := time.Unix(unix, 0).In(zone).Zone()
	return int64(offset)
}

// instant maps a wall time to the latest instant that shows it. When there is
// none, because the clock jumps over it, ok is false. resume is then the wall
// time from which the search goes on.
//
// time.Date is no help here: it shifts times in a gap, and which pass of a
// repeated hour it picks depends on the zone.
func instant(wall int64, zone *time.Location) (at, resume int64, ok bool) {
	if zone == time.UTC {
		return wall, wall + 1, true
	}
	at = math.MinInt64
	before := offsetAt(wall-daySeconds, zone)
	tried := int64(math.MinInt64)
	for _, o := range [3]int64{before, offsetAt(wall, zone), offsetAt(wall+daySeconds, zone)} {
		if o != tried && offsetAt(wall-o, zone) == o {
			at, ok = max(at, wall-o), true
		}
		tried = o
	}
	if ok {
		return at, wall + 1, true
	}
	return 0, gapEnd(wall, before, zone), false
}

// gapEnd returns the first wall time after the gap that holds wall, so that a
// schedule for every second does not walk through the gap.
func gapEnd(wall, before int64, zone *time.Location) int64 {
	after := time.Unix(wall-before, 0).In(zone)
	_, offset := after.Zone()
	start, _ := after.ZoneBounds()
	if start.IsZero() {
		return wall + 1
	}
	return max(wall+1, start.Unix()+int64(offset))
}
