// Package model holds the plain types of the scheduling center: jobs, runs,
// executor groups, users and nodes, their enumerations, field rules and error
// codes. It knows nothing of SQL, HTML or the network.
//
// Enumeration values are stored in the database and used by people's scripts,
// so their spelling is part of the interface (reference: console.md 6.5).
package model

import "slices"

// ScheduleType says how a job's fire times are computed.
type ScheduleType string

// Schedule types.
const (
	ScheduleNone    ScheduleType = "NONE"     // only by hand, by API or as a child
	ScheduleCron    ScheduleType = "CRON"     // Quartz dialect, see scheduler/cron
	ScheduleFixRate ScheduleType = "FIX_RATE" // every n seconds
)

// MisfireStrategy says what happens to fires that are later than the threshold.
type MisfireStrategy string

// Misfire strategies.
const (
	MisfireSkip     MisfireStrategy = "DO_NOTHING"
	MisfireFireOnce MisfireStrategy = "FIRE_ONCE_NOW"
)

// RouteStrategy says which of an executor's addresses is rung.
type RouteStrategy string

// Routing strategies.
const (
	RouteFirst          RouteStrategy = "FIRST"
	RouteLast           RouteStrategy = "LAST"
	RouteRound          RouteStrategy = "ROUND"
	RouteRandom         RouteStrategy = "RANDOM"
	RouteConsistentHash RouteStrategy = "CONSISTENT_HASH"
	RouteLFU            RouteStrategy = "LEAST_FREQUENTLY_USED"
	RouteLRU            RouteStrategy = "LEAST_RECENTLY_USED"
	RouteFailover       RouteStrategy = "FAILOVER"
	RouteBusyover       RouteStrategy = "BUSYOVER"
	RouteGlobalBusyover RouteStrategy = "GLOBAL_BUSYOVER" // ours: waits for an executor that runs nothing at all
	RouteBroadcast      RouteStrategy = "SHARDING_BROADCAST"
)

// BlockStrategy says what an executor does with a run of a job that is busy.
type BlockStrategy string

// Block strategies.
const (
	BlockSerial  BlockStrategy = "SERIAL_EXECUTION"
	BlockDiscard BlockStrategy = "DISCARD_LATER"
	BlockCover   BlockStrategy = "COVER_EARLY"
)

// GlueType is the run mode of a job: a named handler or a script.
type GlueType string

// Run modes.
const (
	GlueBean       GlueType = "BEAN"
	GlueGroovy     GlueType = "GLUE_GROOVY"
	GlueShell      GlueType = "GLUE_SHELL"
	GluePython     GlueType = "GLUE_PYTHON"
	GluePython2    GlueType = "GLUE_PYTHON2"
	GluePHP        GlueType = "GLUE_PHP"
	GlueNodeJS     GlueType = "GLUE_NODEJS"
	GluePowerShell GlueType = "GLUE_POWERSHELL"
)

// IsScript reports whether the executor needs the source of the job.
func (g GlueType) IsScript() bool { return g != GlueBean }

// TriggerType says who decided that a run is made.
type TriggerType string

// Trigger types.
const (
	TriggerManual  TriggerType = "MANUAL"
	TriggerCron    TriggerType = "CRON"
	TriggerRetry   TriggerType = "RETRY"
	TriggerParent  TriggerType = "PARENT"
	TriggerAPI     TriggerType = "API"
	TriggerMisfire TriggerType = "MISFIRE"
)

// TriggerTypes lists the values in the order in which they are offered.
func TriggerTypes() []TriggerType {
	return []TriggerType{TriggerCron, TriggerManual, TriggerAPI, TriggerParent, TriggerRetry, TriggerMisfire}
}

// ScheduleTypes lists the values in the order in which they are offered.
func ScheduleTypes() []ScheduleType {
	return []ScheduleType{ScheduleCron, ScheduleFixRate, ScheduleNone}
}

// MisfireStrategies lists the values in the order in which they are offered.
func MisfireStrategies() []MisfireStrategy {
	return []MisfireStrategy{MisfireSkip, MisfireFireOnce}
}

// RouteStrategies lists the values in the order in which they are offered.
func RouteStrategies() []RouteStrategy {
	return []RouteStrategy{
		RouteFirst, RouteLast, RouteRound, RouteRandom, RouteConsistentHash,
		RouteLFU, RouteLRU, RouteFailover, RouteBusyover, RouteGlobalBusyover, RouteBroadcast,
	}
}

// BlockStrategies lists the values in the order in which they are offered.
func BlockStrategies() []BlockStrategy {
	return []BlockStrategy{BlockSerial, BlockDiscard, BlockCover}
}

// GlueTypes lists the values in the order in which they are offered.
func GlueTypes() []GlueType {
	return []GlueType{
		GlueBean, GlueShell, GluePython, GlueNodeJS, GluePHP, GluePowerShell, GlueGroovy, GluePython2,
	}
}

// Known reports whether the value is one of the offered ones.
func (v ScheduleType) Known() bool { return slices.Contains(ScheduleTypes(), v) }

// Known reports whether the value is one of the offered ones.
func (v MisfireStrategy) Known() bool { return slices.Contains(MisfireStrategies(), v) }

// Known reports whether the value is one of the offered ones.
func (v RouteStrategy) Known() bool { return slices.Contains(RouteStrategies(), v) }

// Known reports whether the value is one of the offered ones.
func (v BlockStrategy) Known() bool { return slices.Contains(BlockStrategies(), v) }

// Known reports whether the value is one of the offered ones.
func (v GlueType) Known() bool { return slices.Contains(GlueTypes(), v) }
