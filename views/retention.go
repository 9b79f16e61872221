package views

import (
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// Retention is the page of what is kept and what was removed.
type Retention struct {
	Page
	State   model.RetentionState
	Default model.KeepDays
	Keep    model.Keep
	Jobs    []KeepingJob
	Own     int // jobs with days of their own, listed or not
	Days    []model.RetentionDay
	Oldest  time.Time
	Values  map[string]string
	Errors  map[string]string
	Ask     *RetentionAsk // what the new days would remove; nil = nothing is asked
}

// KeepingJob is a job with days of its own.
type KeepingJob struct {
	ID   int
	Name string
	model.Keep
}

// RetentionAsk is the question before much is removed.
type RetentionAsk struct {
	Runs  int64
	Until time.Time
	Sure  string // names the days that were asked about
}

// keepText says for how long runs are kept.
func (p Page) keepText(k model.KeepDays) string {
	switch {
	case k == model.KeepDefault:
		return p.T("retention.as_all")
	case k == model.KeepForever:
		return p.T("system.retention_none")
	}
	return p.L.N("system.retention", int(k))
}

// keepBoth says it of both classes, once when they are the same.
func (p Page) keepBoth(k model.Keep) string {
	if k.Succeeded == k.Failed {
		return p.keepText(k.Succeeded)
	}
	return p.T("retention.both", "Succeeded", p.keepText(k.Succeeded), "Failed", p.keepText(k.Failed))
}

// RetentionSure names days, so that a yes counts for no others.
func RetentionSure(k model.Keep) string { return k.Succeeded.String() + "/" + k.Failed.String() }

func (v Retention) field(name string) Field {
	return Field{
		Name: name, Label: v.T("form." + name), Value: v.Values[name], Error: v.Errors[name], Max: 6, Focus: v.Errors[name] != "",
		Hint: v.T("retention.field_hint", "Default", v.keepText(v.Default)),
	}
}

// asked reports whether somebody waits for a pass to begin.
func (v Retention) asked() bool { return max(v.State.AskedMS, v.State.ChangedMS) > v.State.BeganMS }

func (v Retention) day(t time.Time) string { return t.In(v.Now.Location()).Format(time.DateOnly) }

func (v Retention) instant(ms int64) string { return i18n.DateTime(v.millis(ms)) }

// class is the colour of the state, its key names the sentence.
func (v Retention) class() (class, key string) {
	switch {
	case v.State.Overdue(v.Now) > 0:
		return "bad", "retention.overdue"
	case v.State.Failed != "":
		return "bad", "retention.failed"
	case v.State.Working():
		return "open", "retention.working"
	case v.asked():
		return "open", "retention.asked"
	case v.State.FinishedMS == 0:
		return "off", "retention.never"
	}
	return "ok", "retention.done"
}

func (v Retention) dot() string { class, _ := v.class(); return class }

func (v Retention) sentence() string {
	_, key := v.class()
	return v.T(key, "Days", v.L.Number(int64(v.State.Overdue(v.Now)/(24*time.Hour))))
}

// behind says how far a pass has come.
func (v Retention) behind() string {
	if !v.State.Working() || v.State.ReachedMS == 0 {
		return ""
	}
	return v.T("retention.reached", "Reached", v.instant(v.State.ReachedMS), "Target", v.instant(v.State.TargetMS))
}

// percent is how far a pass has come, -1 when that is not known.
func (v Retention) percent() int {
	st := v.State
	if !st.Working() || st.OriginMS == 0 || st.ReachedMS == 0 || st.TargetMS <= st.OriginMS {
		return -1
	}
	return int(min(100, max(0, 100*(st.ReachedMS-st.OriginMS)/(st.TargetMS-st.OriginMS))))
}

// The picture of what was removed: a bar for each day, stacked by class.
const (
	removedWidth  = 600
	removedHeight = 96
	removedDays   = 30
)

type removedBar struct {
	X, W, Title string
	Parts       []bar
}

func (v Retention) bars() (out []removedBar) {
	by := map[string]model.RetentionDay{}
	most := int64(1)
	for _, d := range v.Days {
		by[d.Day] = d
		most = max(most, d.Runs())
	}
	step := float64(removedWidth) / removedDays
	for i := range removedDays {
		name := model.Day(v.Now, i+1-removedDays)
		d := by[name]
		b := removedBar{X: decimal(step*float64(i) + 1.5), W: decimal(step - 3), Title: name + " · " + v.L.Number(d.Runs())}
		y := float64(removedHeight)
		for _, part := range []struct {
			n     int64
			class string
		}{{d.Succeeded, "b-ok"}, {d.Failed, "b-bad"}, {d.Missed, "b-missed"}, {d.ByHand, "b-open"}} {
			if part.n == 0 {
				continue
			}
			h := max(1.5, removedHeight*float64(part.n)/float64(most)*0.96)
			y -= h
			b.Parts = append(b.Parts, bar{Y: decimal(y), H: decimal(h), Class: part.class})
		}
		out = append(out, b)
	}
	return out
}

// mostRemoved is the largest number of the picture.
func (v Retention) mostRemoved() (n int64) {
	for _, d := range v.Days {
		n = max(n, d.Runs())
	}
	return n
}

// listed are the days that the table has: the newest on which something was removed.
func (v Retention) listed() (out []model.RetentionDay) {
	for _, d := range v.Days {
		if len(out) < 7 && d.Runs()+d.Incidents+d.AuditLines > 0 {
			out = append(out, d)
		}
	}
	return out
}
