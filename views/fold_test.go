package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carillon-scheduler/carillon/model"
)

func TestRunsOfOneFireAreFolded(t *testing.T) {
	run := func(id int64, code int, change func(*model.Run)) RunRow {
		r := model.Run{ID: id, TriggerCode: 200, HandleCode: code, Phase: model.PhaseFinished}
		if change != nil {
			change(&r)
		}
		return RunRow{Run: r}
	}
	first := func(id int64) func(*model.Run) { return func(r *model.Run) { r.FirstID = id } }
	parent := func(id int64) func(*model.Run) { return func(r *model.Run) { r.ParentID = id } }
	shard := func(key string) func(*model.Run) { return func(r *model.Run) { r.ShardKey = key } }
	for name, c := range map[string]struct {
		rows []RunRow // newest first
		want string
	}{
		"nothing to fold":               {[]RunRow{run(2, 200, nil), run(1, 500, nil)}, "2 1"},
		"the last attempt counts":       {[]RunRow{run(9, 200, first(3)), run(8, 200, nil), run(7, 500, first(3)), run(3, 500, nil)}, "9+2 3<9 7<9 8"},
		"the first attempt is older":    {[]RunRow{run(9, 500, first(3)), run(7, 500, first(3))}, "9+1 7<9"},
		"a failed shard counts":         {[]RunRow{run(3, 200, shard("a")), run(2, 500, shard("a")), run(1, 200, shard("a")), run(4, 200, shard("b"))}, "2+2 1<2 3<2 4"},
		"children of children":          {[]RunRow{run(5, 500, parent(4)), run(4, 200, parent(1)), run(2, 200, nil), run(1, 200, nil)}, "1+2 4<1 5<1 2"},
		"a child of the second try":     {[]RunRow{run(5, 200, parent(4)), run(4, 200, first(1)), run(1, 500, nil)}, "4+2 1<4 5<4"},
		"the parent is on another page": {[]RunRow{run(5, 200, parent(4)), run(6, 200, parent(4))}, "5 6"},
		"empty":                         {nil, ""},
	} {
		var got []string
		for _, r := range FoldRuns(c.rows) {
			text := fmt.Sprint(r.ID)
			if r.Folded > 0 {
				text += fmt.Sprintf("+%d", r.Folded)
			}
			if r.Under > 0 {
				text += fmt.Sprintf("<%d", r.Under)
			}
			got = append(got, text)
		}
		assert.Equal(t, c.want, strings.Join(got, " "), name)
	}
}
