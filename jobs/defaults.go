package jobs

import "github.com/carillon-scheduler/carillon/model"

// NewJobInput gives the values with which the form of a new job starts
// (reference: console.md 6.2).
func NewJobInput() JobInput {
	return JobInput{
		ScheduleType: model.ScheduleCron, Misfire: model.MisfireSkip, Route: model.RouteFirst,
		Block: model.BlockSerial, GlueType: model.GlueBean,
		// At once, three attempts are over before an executor has started anew.
		RetryDelaySec: 10, RetryGrowing: true,
	}
}
