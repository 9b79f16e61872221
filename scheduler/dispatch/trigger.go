package dispatch

import (
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
)

// triggerOf builds what is sent. Handler and parameter of a scheduled run are
// those of the job now; the others carry what they were asked with.
func triggerOf(j *job) protocol.Trigger {
	index, total := shard(j.run.Sharding)
	t := protocol.Trigger{
		JobID: int64(j.run.JobID), LogID: j.run.ID, LogDateTime: j.run.TriggerTime.UnixMilli(),
		Handler: j.run.Handler, Params: j.run.Param,
		BlockStrategy: string(j.def.Block), TimeoutSec: int64(max(0, j.def.TimeoutSec)),
		GlueType: string(j.def.GlueType), GlueSource: j.def.GlueSource,
		// Before 1970 (a zero time) would be negative, which some clients refuse.
		GlueUpdateTime: max(0, j.def.GlueUpdateTime.UnixMilli()),
		BroadcastIndex: int64(index), BroadcastTotal: int64(total),
	}
	if j.run.TriggerType == model.TriggerCron || j.run.TriggerType == model.TriggerMisfire {
		t.Handler, t.Params = j.def.Handler, j.def.Param
	}
	if t.BlockStrategy == "" {
		t.BlockStrategy = string(model.BlockSerial)
	}
	return t
}

// shard reads "i/n"; everything else is 0 of 1.
func shard(text string) (index, total int) {
	a, b, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || i < 0 || n < 1 {
		return 0, 1
	}
	return i, n
}
