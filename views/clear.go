package views

import (
	"strconv"

	"github.com/carillon-scheduler/carillon/model"
)

// Clear asks which runs are to be removed, and says how many those are.
type Clear struct {
	Page
	GroupID, JobID, Kind int
	JobName              string
	Groups               []model.Group
	Everything           bool // all executors may be chosen
	Counted              bool
	Runs                 int
	More                 bool // there are more than Runs; after a step: some are left
	BeforeID             int64
	Text                 string // what the last step did
}

func (v Clear) kinds() []Option {
	var out []Option
	for k := model.ClearMonth; k.Valid(); k++ {
		out = append(out, Option{strconv.Itoa(int(k)), v.T("clear.kind." + strconv.Itoa(int(k)))})
	}
	return out
}

// count is how many go.
func (v Clear) count() string {
	n := v.L.Number(int64(v.Runs))
	if v.More {
		n += "+"
	}
	return n
}
