package model

// Failures are what the page of a job says of its failing, read from its runs. They are empty for a job whose newest ended fire is
// none that failed.
type Failures struct {
	Streak           // zero = the job is not failing
	Fires       int  // how many fires failed one after the other; 0 = none of them is kept
	More        bool // there are more of them than are counted
	Last        Run  // the newest failed run, no id = not kept any more
	LastSuccess Run  // no id = none is known
}

// Failing reports whether the fire that ended last has failed.
func (f *Failures) Failing() bool { return f.SinceMS > 0 }

// Waiting are the runs of a job that are written down and not sent.
type Waiting struct {
	Total int
	Due   int   // of these, how many should have been sent by now
	Runs  []Run // the first by their instant
}
