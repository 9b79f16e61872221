package views

import (
	"cmp"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// RunView is everything about one run.
type RunView struct {
	Page
	Run        model.Run
	Job        *model.Job
	GroupTitle string
	Linked     []model.Run
	AverageMS  int64
	// Place is the place of a run that is due and waits, from 1, among the PlaceOf of its job.
	Place, PlaceOf int
	Theirs         string // what its executor or handler wrote, plain text
	Ours           string // what the center says of it
	TriggerText    string // of old rows and rows of others: how it was sent
	Fragment       bool   // drawn for htmx: other parts go out of band

	// FailingMS says since when the fires of the job fail, epoch ms; 0 = they do not.
	FailingMS   int64
	FailingRuns int // fires that failed since
	FailingMore bool
	SucceededMS int64 // the last success before that, 0 = none that is known
}

// streak says since when and how often the job fails, and when it last did not.
func (v RunView) streak() string {
	n := v.L.Number(int64(max(1, v.FailingRuns)))
	if v.FailingMore {
		n += "+"
	}
	text := v.T("run.streak", "When", v.when(v.millis(v.FailingMS)), "Number", n)
	if v.SucceededMS > 0 {
		text += v.T("run.streak_good", "When", v.when(v.millis(v.SucceededMS)))
	}
	return text
}

func (v RunView) jobName() string {
	switch {
	case v.Job != nil:
		return v.Job.Name
	case v.Run.JobName != "":
		return v.Run.JobName
	}
	return v.T("runs.job_gone", "ID", v.Run.JobID)
}

// PageTitle tells the tabs of a browser apart: result, job and run.
func (v RunView) PageTitle() string {
	return v.T("result."+string(v.Run.Result())) + " · " + v.jobName() + " · " + v.T("run.title", "ID", v.Run.ID)
}

// message is what a person reads first: why it ended as it did.
func (v RunView) message() string { return cmp.Or(v.Theirs, v.Ours) }

// reasonText says why the center closed a run.
func reasonText(l *i18n.Localizer, reason string) string {
	if key := "reason." + reason; l.Has(key) {
		return l.T(key)
	}
	return l.T("reason.other")
}

// messageSub says what the center adds, and where the message comes from.
func (v RunView) messageSub() string {
	switch {
	case v.Theirs != "" && v.Ours != "":
		return v.Ours
	case v.Run.HandleCode != 0 && v.Run.Reason == "" && !ordinary(v.Run.HandleCode):
		return v.T("run.result_code", "Code", v.Run.HandleCode)
	case v.Run.TriggerCode != 0 && !ordinary(v.Run.TriggerCode):
		return v.T("run.trigger_code", "Code", v.Run.TriggerCode)
	}
	return ""
}

// ordinary codes say no more than the state of the run does.
func ordinary(code int) bool {
	return code == model.CodeSuccess || code == model.CodeFail || code == model.CodeMissed || code == model.CodeTimeout
}

// asked names a question to an executor.
func (v RunView) answer(a model.Attempt) string {
	switch {
	case a.Code == 0 && a.Text == "":
		return v.T("run.route_silent")
	case a.Code == 0:
		return a.Text
	}
	return strings.TrimSpace(itoa(a.Code) + " " + a.Text)
}

// step is one station of the timeline.
type step struct{ key, class, time, sub string }

func (v RunView) steps() []step {
	r, class := v.Run, resultClass(v.Run.Result())
	at := func(ms int64) string { return i18n.ClockMillis(v.millis(ms)) }
	waiting := func(key string) step {
		if r.Open() {
			return step{key, "", v.T("run.not_yet"), ""}
		}
		return step{key, "", "–", ""}
	}
	planned := step{"planned", "ok", i18n.Clock(plannedAt(r).In(v.Now.Location())), plannedAt(r).In(v.Now.Location()).Format(time.DateOnly)}
	if r.PlannedMS > 0 {
		planned.time = at(r.PlannedMS)
	}
	if r.Owner != "" {
		planned.sub += " · " + v.T("run.by_node", "Name", r.Owner)
	}
	sent, accepted, finished := waiting("sent"), waiting("accepted"), waiting("finished")
	switch {
	case v.Place > 0:
		sent.class = "open"
		sent.sub = v.T("run.place", "Place", v.L.Number(int64(v.Place)), "Of", v.L.Number(int64(v.PlaceOf)), "Age", v.L.Age(v.Now.Sub(plannedAt(r))))
	case r.SentMS > 0:
		sent = step{"sent", "ok", at(r.SentMS), v.T("run.on_time")}
		if late := lateMS(r); late > 0 {
			sent.sub = v.T("run.late", "Duration", v.L.Millis(late))
		}
		if isLate(r) {
			sent.class = "open"
		}
	case r.Phase == model.PhaseMissed:
		sent = step{"sent", "missed", v.T("run.never"), ""}
	}
	if r.AcceptedMS > 0 {
		accepted = step{"accepted", "ok", at(r.AcceptedMS), r.Address}
		if r.SentMS > 0 {
			accepted.sub = v.T("run.after", "Duration", v.L.Millis(r.AcceptedMS-r.SentMS))
		}
	}
	if r.FinishedMS > 0 {
		finished = step{"finished", class, at(r.FinishedMS), ""}
		if ms := r.DurationMS(); ms >= 0 {
			finished.sub = v.T("run.took", "Duration", v.L.Millis(ms))
		}
	} else if !r.HandleTime.IsZero() {
		finished = step{"finished", class, i18n.Clock(r.HandleTime.In(v.Now.Location())), ""}
	} else if r.Result() == model.ResultRunning && r.AcceptedMS > 0 {
		finished.class = "open"
		finished.sub = v.T("run.running_for", "Duration", v.L.Age(v.Now.Sub(time.UnixMilli(r.AcceptedMS))))
	}
	if v.AverageMS > 0 && finished.sub != "" {
		finished.sub += " · " + v.T("run.average", "Duration", v.L.Millis(v.AverageMS))
	}
	return []step{planned, sent, accepted, finished}
}

// relation says how another run belongs to this one.
func (v RunView) relation(other model.Run) string {
	switch {
	case other.ID == v.Run.ID:
		return v.T("run.this")
	case other.ID == v.Run.ParentID:
		return v.T("run.link.parent")
	case other.ParentID == v.Run.ID:
		return v.T("run.link.child")
	case other.ShardKey != "" && other.ShardKey == v.Run.ShardKey && other.FirstAttempt() != v.Run.FirstAttempt():
		return v.T("run.link.shard")
	case other.ID == v.Run.FirstID:
		return v.T("run.link.first")
	}
	return v.T("run.link.retry")
}

// HasLog reports whether an executor ever had the run.
func (v RunView) HasLog() bool {
	r := v.Run.Result()
	return v.Run.Address != "" && r != model.ResultPlanned && r != model.ResultMissed && v.Run.TriggerCode != model.CodeFail
}

// livePath is what an open run asks for to refresh itself. While there is no
// log yet it says so, and is told to load the page anew once there is one.
func (v RunView) livePath() string {
	if v.HasLog() {
		return v.path("")
	}
	return v.path("") + "?wait=log"
}

// liveSpeed makes a run that waits for its executor refresh sooner.
func (v RunView) liveSpeed() string {
	if v.HasLog() {
		return ""
	}
	return "fast"
}

func (v RunView) path(suffix string) string { return v.URL("/runs/" + id64(v.Run.ID) + suffix) }
