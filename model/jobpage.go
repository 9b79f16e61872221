package model

// Failures are what the page of a job says of its failing, read from its runs. They are empty for a job whose newest ended fire is
// none that failed.
type Failures struct {
	Fires       int // how many fires failed one after the other
	First, Last Run // the first and the newest failed run
	LastSuccess Run // no id = none is known
}

// Waiting are the runs of a job that are written down and not sent.
type Waiting struct {
	Total int
	Due   int   // of these, how many should have been sent by now
	Runs  []Run // the first by their instant
}
