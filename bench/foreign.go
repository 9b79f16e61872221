package main

import (
	"cmp"
	"slices"
)

// attribute gives the rows of a center without planned instants the instants
// they were made for: the newest one of their job, not later than the row and not
// taken by another row. What finds none keeps its own time and counts as extra.
func attribute(jobs []expect, rows []runRow) {
	const reach = 60000 // ms
	steps := map[int]expect{}
	for _, e := range jobs {
		steps[e.job] = e
	}
	slices.SortStableFunc(rows, func(a, b runRow) int { return cmp.Compare(a.Planned, b.Planned) })
	taken := map[target]bool{}
	for i := range rows {
		r := &rows[i]
		e, ok := steps[r.Job]
		if !ok || r.Planned < e.start {
			continue
		}
		newest := e.start + (r.Planned-e.start)/e.step*e.step
		for at := newest; at > newest-reach && at >= e.start; at -= e.step {
			if t := (target{r.Job, at, r.Shard}); !taken[t] {
				taken[t], r.Planned = true, at
				break
			}
		}
	}
}
