package model

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// PackJobs is how many job ids share a pack.
const PackJobs = 200

// PackOf is the pack that has the numbers of a job.
func PackOf(job int) int { return job / PackJobs }

// CountPack are the numbers of neighbouring jobs of one day, week or month: of a Counter all
// that is no map. Reports that look at thousands of jobs read packs, of which there are few,
// instead of a row for each job.
type CountPack []PackedCount

// PackedCount are the numbers of a job on an executor, in the order of Numbers.
type PackedCount struct {
	JobID, GroupID int
	N              [9]int64
}

// Pack takes the numbers of a counter.
func (c *Counter) Pack() PackedCount {
	return PackedCount{c.JobID, c.GroupID, [9]int64{c.Expected, c.Succeeded, c.Rescued, c.Failed, c.Missed, c.Excused, c.Late, c.TookRuns, c.TookMS}}
}

// AddTo adds the numbers to those of a counter.
func (p *PackedCount) AddTo(c *Counter) {
	c.Expected, c.Succeeded, c.Rescued = c.Expected+p.N[0], c.Succeeded+p.N[1], c.Rescued+p.N[2]
	c.Failed, c.Missed, c.Excused = c.Failed+p.N[3], c.Missed+p.N[4], c.Excused+p.N[5]
	c.Late, c.TookRuns, c.TookMS = c.Late+p.N[6], c.TookRuns+p.N[7], c.TookMS+p.N[8]
}

func (p PackedCount) compare(o PackedCount) int {
	return cmp.Or(cmp.Compare(p.JobID, o.JobID), cmp.Compare(p.GroupID, o.GroupID))
}

// Put gives the pack with numbers in the place of those that it has of the same job and
// executor.
func (p CountPack) Put(c PackedCount) CountPack {
	at, there := slices.BinarySearchFunc(p, c, PackedCount.compare)
	if there {
		p[at] = c
		return p
	}
	return slices.Insert(p, at, c)
}

// Encode writes a pack in few bytes, about 15 for each job.
func (p CountPack) Encode() []byte {
	out := make([]byte, 0, 20*len(p))
	last := 0
	for _, c := range p {
		out = binary.AppendVarint(out, int64(c.JobID-last))
		out = binary.AppendVarint(out, int64(c.GroupID))
		for _, n := range c.N {
			out = binary.AppendVarint(out, n)
		}
		last = c.JobID
	}
	return out
}

// EachPacked reads what Encode has written of the jobs that are wanted (nil = of all), without
// making a pack: fn must not keep what it gets.
func EachPacked(in []byte, want func(job, group int) bool, fn func(*PackedCount)) error {
	var c PackedCount
	for r := (numbers{in: in}); len(r.in) > 0; {
		c.JobID += int(r.signed())
		c.GroupID = int(r.signed())
		if want != nil && !want(c.JobID, c.GroupID) {
			if r.skip(len(c.N)); r.bad {
				return ErrBadCount
			}
			continue
		}
		for i := range c.N {
			c.N[i] = r.signed()
		}
		if r.bad {
			return ErrBadCount
		}
		fn(&c)
	}
	return nil
}

// DecodePack reads what Encode has written.
func DecodePack(in []byte) (CountPack, error) {
	var out CountPack
	err := EachPacked(in, nil, func(c *PackedCount) { out = append(out, *c) })
	return out, err
}
