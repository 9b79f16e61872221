package model

// Node is one process of the scheduling center that shares the database.
type Node struct {
	Name      string
	Epoch     int64 // grows with each start under the same name: the fencing token
	StartedMS int64 // by the database's clock
	BeatMS    int64
	Version   string
}

// DayCount is one row of the daily report.
type DayCount struct {
	Day                        string // yyyy-mm-dd in the center's zone
	Running, Succeeded, Failed int
	Missed                     int
}
