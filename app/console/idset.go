package console

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// mostPicked is how many jobs or runs a form may name.
const mostPicked = 10_000

// idText writes ids short, in order and each once: 1-20,25. So a form can carry thousands.
func idText(ids []int64) string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var b strings.Builder
	for i := 0; i < len(ids); {
		to := i
		for to+1 < len(ids) && ids[to+1] == ids[to]+1 {
			to++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(ids[i], 10))
		if to > i {
			b.WriteString("-" + strconv.FormatInt(ids[to], 10))
		}
		i = to + 1
	}
	return b.String()
}

// readIDs is the opposite of idText. What is no positive number is an error, and so are
// more than mostPicked.
func readIDs(text string) ([]int64, error) {
	var out []int64
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		a, err := strconv.ParseInt(first, 10, 64)
		b := a
		if err == nil && ranged {
			b, err = strconv.ParseInt(last, 10, 64)
		}
		if err != nil || a <= 0 || b < a {
			return nil, model.Errf(model.CodeInvalid, "error.invalid")
		}
		if b-a >= mostPicked || len(out)+int(b-a) >= mostPicked {
			return nil, tooMany(mostPicked)
		}
		for i := range b - a + 1 { // not up to b: behind the largest number there is none
			out = append(out, a+i)
		}
	}
	return out, nil
}

func tooMany(most int) error {
	return model.Errf(model.CodeInvalid, "error.batch_size", "Max", most)
}
