package model

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"time"
)

// LateAfter is how long after its planned instant a run may be sent before reports call it late.
const LateAfter = 10 * time.Second

// CountKey says how a fire is counted: the hour and the job it belongs to, and what became of it.
type CountKey struct {
	// Hour is the beginning of its hour in the center's zone, epoch seconds.
	Hour           int64
	JobID, GroupID int
	// Line is LedgerExpected, or an outcome as in the ledger.
	Line string
	// Took is the bucket of how long a good run took (TookBucket), -1 = none.
	Took          int
	Late, Rescued bool // sent late; good, but not at the first attempt
}

// CountValue is how many fires, and how long they took together.
type CountValue struct {
	N      int64
	TookMS int64
}

// Counted is how many fires are to be counted more, or less, under each key.
type Counted map[CountKey]CountValue

// Add counts n fires more.
func (c Counted) Add(k CountKey, n, tookMS int64) {
	v := c[k]
	v.N, v.TookMS = v.N+n, v.TookMS+tookMS
	if v == (CountValue{}) {
		delete(c, k)
		return
	}
	c[k] = v
}

// Merge adds what another has counted.
func (c Counted) Merge(other Counted) {
	for k, v := range other {
		c.Add(k, v.N, v.TookMS)
	}
}

// HourOf is the beginning of the hour of an instant by the clock of its zone, epoch seconds.
func HourOf(t time.Time) int64 { return t.Unix() - int64(t.Minute()*60+t.Second()) }

const (
	flagLate = 1 << iota
	flagRescued
)

// Encode writes the counts in few bytes, about 20 for each key.
func (c Counted) Encode() []byte {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b CountKey) int {
		return cmp.Or(cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.JobID, b.JobID), cmp.Compare(a.GroupID, b.GroupID), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Took, b.Took))
	})
	out := make([]byte, 0, 20*len(keys)+8)
	out = binary.AppendUvarint(out, uint64(len(keys)))
	var hour int64
	for _, k := range keys {
		flags := uint64(0)
		if k.Late {
			flags |= flagLate
		}
		if k.Rescued {
			flags |= flagRescued
		}
		v := c[k]
		out = binary.AppendVarint(out, k.Hour-hour)
		out = binary.AppendVarint(out, int64(k.JobID))
		out = binary.AppendVarint(out, int64(k.GroupID))
		out = binary.AppendUvarint(out, uint64(len(k.Line)))
		out = append(out, k.Line...)
		out = binary.AppendVarint(out, int64(k.Took))
		out = binary.AppendUvarint(out, flags)
		out = binary.AppendVarint(out, v.N)
		out = binary.AppendVarint(out, v.TookMS)
		hour = k.Hour
	}
	return out
}

// ErrBadCount means that bytes are no counts.
var ErrBadCount = errors.New("these bytes are no counts")

// DecodeCounted reads what Encode has written.
func DecodeCounted(in []byte) (Counted, error) {
	r := numbers{in: in}
	n := r.unsigned()
	out := Counted{}
	var hour int64
	for range n {
		if r.bad {
			break
		}
		hour += r.signed()
		k := CountKey{Hour: hour, JobID: int(r.signed()), GroupID: int(r.signed()), Line: r.text(), Took: int(r.signed())}
		flags := r.unsigned()
		k.Late, k.Rescued = flags&flagLate != 0, flags&flagRescued != 0
		v := CountValue{r.signed(), r.signed()}
		out.Add(k, v.N, v.TookMS)
	}
	if r.bad || len(r.in) > 0 {
		return nil, ErrBadCount
	}
	return out, nil
}

// numbers reads varints and remembers that one was none.
type numbers struct {
	in  []byte
	bad bool
}

func (r *numbers) signed() int64 {
	if len(r.in) > 0 && r.in[0] < 0x80 { // most are small, and a report reads millions
		u := int64(r.in[0])
		r.in = r.in[1:]
		return u>>1 ^ -(u & 1)
	}
	v, n := binary.Varint(r.in)
	return v * r.took(n)
}

// skip passes over n numbers.
func (r *numbers) skip(n int) {
	for i, b := range r.in {
		if b < 0x80 {
			if n--; n == 0 {
				r.in = r.in[i+1:]
				return
			}
		}
	}
	r.bad, r.in = true, nil
}

func (r *numbers) unsigned() uint64 {
	v, n := binary.Uvarint(r.in)
	return v * uint64(r.took(n))
}

func (r *numbers) took(n int) int64 {
	if n <= 0 {
		r.bad, r.in = true, nil
		return 0
	}
	r.in = r.in[n:]
	return 1
}

func (r *numbers) text() string {
	n := r.unsigned()
	if n > uint64(len(r.in)) {
		r.bad, r.in = true, nil
		return ""
	}
	out := string(r.in[:n])
	r.in = r.in[n:]
	return out
}

// Buckets of durations are 10 % wide, so a percentile read from them is off by less than
// that. Percentiles cannot be averaged, buckets can be added up.
const tookStep = 0.09531017980432486 // ln 1.1

// TookBucket is the bucket of a duration in milliseconds: 0 for less than one.
func TookBucket(ms int64) int {
	if ms < 1 {
		return 0
	}
	return 1 + int(math.Log(float64(ms))/tookStep)
}

// tookOf is the middle of a bucket in milliseconds.
func tookOf(bucket int) int64 {
	if bucket <= 0 {
		return 0
	}
	return int64(math.Round(math.Exp((float64(bucket) - 0.5) * tookStep)))
}

// Took counts how long runs took: runs by TookBucket.
type Took map[int]int64

// Total is how many runs there are.
func (t Took) Total() (n int64) {
	for _, c := range t {
		n += c
	}
	return n
}

// Quantile gives the duration in milliseconds that a part q of the runs did not exceed,
// or -1 without runs. It is off by 5 % at most.
func (t Took) Quantile(q float64) int64 {
	total := t.Total()
	if total <= 0 {
		return -1
	}
	rank, seen := int64(math.Ceil(q*float64(total))), int64(0)
	for _, b := range slices.Sorted(maps.Keys(t)) {
		if seen += t[b]; seen >= max(1, rank) {
			return tookOf(b)
		}
	}
	return -1
}

// Add counts the runs of another.
func (t Took) Add(other Took) {
	for b, n := range other {
		if t[b] += n; t[b] == 0 {
			delete(t, b)
		}
	}
}

// Encode writes the buckets in few bytes.
func (t Took) Encode() []byte {
	out := make([]byte, 0, 3*len(t))
	last := 0
	for _, b := range slices.Sorted(maps.Keys(t)) {
		out = binary.AppendVarint(out, int64(b-last))
		out = binary.AppendVarint(out, t[b])
		last = b
	}
	return out
}

// DecodeTook reads what Encode has written.
func DecodeTook(in []byte) (Took, error) {
	r, out, b := numbers{in: in}, Took{}, 0
	for len(r.in) > 0 {
		b += int(r.signed())
		out[b] += r.signed()
	}
	if r.bad {
		return nil, ErrBadCount
	}
	return out, nil
}

// HourCell is what an hour of the week had.
type HourCell struct{ Expected, Failed, Missed int64 }

// Hours are the hours of a week: 24 for each day from Monday on.
type Hours map[int]HourCell

// HourOfWeek is the place of an hour in Hours, by the clock of its zone.
func HourOfWeek(t time.Time) int { return (int(t.Weekday())+6)%7*24 + t.Hour() }

// Add counts what another has.
func (h Hours) Add(other Hours) {
	for i, c := range other {
		x := h[i]
		x.Expected, x.Failed, x.Missed = x.Expected+c.Expected, x.Failed+c.Failed, x.Missed+c.Missed
		if h[i] = x; x == (HourCell{}) {
			delete(h, i)
		}
	}
}

// Encode writes the hours in few bytes.
func (h Hours) Encode() []byte {
	out := make([]byte, 0, 6*len(h))
	for _, i := range slices.Sorted(maps.Keys(h)) {
		c := h[i]
		for _, v := range []int64{int64(i), c.Expected, c.Failed, c.Missed} {
			out = binary.AppendVarint(out, v)
		}
	}
	return out
}

// DecodeHours reads what Encode has written.
func DecodeHours(in []byte) (Hours, error) {
	r, out := numbers{in: in}, Hours{}
	for len(r.in) > 0 {
		out[int(r.signed())] = HourCell{r.signed(), r.signed(), r.signed()}
	}
	if r.bad {
		return nil, ErrBadCount
	}
	return out, nil
}
