package jobs

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/model"
)

const (
	incidentsShown = 50
	openIncidents  = 200
	membersShown   = 50
	tailLines      = 20
	tailBytes      = 4000
	tailLine       = 500
	tailReads      = 200 // pieces of a log, before its end is given up
)

// IncidentRow is an incident with the names that belong to it.
type IncidentRow struct {
	model.Incident
	JobName, GroupTitle string
	Jobs                int // of which it is the cause, at most 10 000
}

// IncidentPage is a page of the incident list.
type IncidentPage struct {
	Open  []IncidentRow
	Past  []IncidentRow
	Older bool
}

// IncidentDetail is everything about one incident.
type IncidentDetail struct {
	IncidentRow
	Parent  *IncidentRow
	Members []IncidentRow // at most 50; Jobs says how many there are
	Notes   []model.IncidentNote
	Told    []model.Message
	Job     *model.Job // nil when it is about none, or the job is gone
	Run     *model.Run // the last one with its texts; nil when there is none
	NextMS  int64      // next fire, epoch ms; 0 = none
	// SucceededMS is when the job succeeded last; 0 = not among its recent runs.
	SucceededMS int64
	NoteText    string // for who is on call, Markdown
}

func (s *Service) sees(actor model.Actor, i *model.Incident) bool {
	return i.GroupID == 0 || actor.Sees(i.GroupID)
}

// ListIncidents gives the incidents that last, and a page of those that are over.
func (s *Service) ListIncidents(ctx context.Context, actor model.Actor, before int64) (IncidentPage, error) {
	var p IncidentPage
	open, err := s.store.Incidents(ctx, model.IncidentFilter{Open: true, Groups: actor.GroupLimit(), Limit: openIncidents})
	if err != nil {
		return p, err
	}
	past, err := s.store.Incidents(ctx, model.IncidentFilter{Past: true, Groups: actor.GroupLimit(), Before: before, Limit: incidentsShown + 1})
	if err != nil {
		return p, err
	}
	if p.Older = len(past) > incidentsShown; p.Older {
		past = past[:incidentsShown]
	}
	if p.Open, err = s.incidentRows(ctx, actor, open); err != nil {
		return p, err
	}
	p.Past, err = s.incidentRows(ctx, actor, past)
	return p, err
}

// OpenIncidents gives the incidents that last and are about what a report is: those of an
// executor, of an owner's jobs or of a tag, and those of the center unless it is about jobs.
func (s *Service) OpenIncidents(ctx context.Context, actor model.Actor, of model.CounterFilter) ([]IncidentRow, error) {
	f := model.IncidentFilter{Open: true, Groups: actor.GroupLimit(), Owner: of.Owner, Tag: of.Tag, Limit: openIncidents}
	if of.GroupID != 0 {
		if f.Groups != nil && !slices.Contains(f.Groups, of.GroupID) {
			return nil, nil
		}
		f.Groups = []int{of.GroupID}
	}
	open, err := s.store.Incidents(ctx, f)
	if err != nil {
		return nil, err
	}
	return s.incidentRows(ctx, actor, open)
}

// CountIncidents counts the incidents that last and that the actor may see.
func (s *Service) CountIncidents(ctx context.Context, actor model.Actor) (int, error) {
	return s.store.CountIncidents(ctx, actor.GroupLimit())
}

func (s *Service) incidentRows(ctx context.Context, actor model.Actor, list []model.Incident) ([]IncidentRow, error) {
	var jobIDs, groupIDs []int
	for _, i := range list {
		jobIDs, groupIDs = append(jobIDs, i.JobID), append(groupIDs, i.GroupID)
	}
	jobs, err := s.titles(ctx, actor, jobIDs)
	if err != nil {
		return nil, err
	}
	groups, err := s.store.GroupsByID(ctx, groupIDs)
	if err != nil {
		return nil, err
	}
	rows := make([]IncidentRow, len(list))
	for n, i := range list {
		rows[n] = IncidentRow{Incident: i, GroupTitle: groups[i.GroupID].Title}
		if j := jobs[i.JobID]; j.GroupID != 0 { // it is there
			rows[n].JobName = j.Name
		}
		if i.JobID == 0 {
			if rows[n].Jobs, err = s.store.CountMembers(ctx, i.ID); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// Incident gives everything about one that the actor may see.
func (s *Service) Incident(ctx context.Context, actor model.Actor, id int64) (IncidentDetail, error) {
	var d IncidentDetail
	i, err := s.store.Incident(ctx, id)
	if err != nil {
		return d, err
	}
	if !s.sees(actor, &i) {
		return d, model.Errf(model.CodeNotFound, "error.incident_not_found", "ID", id)
	}
	rows, err := s.incidentRows(ctx, actor, []model.Incident{i})
	if err != nil {
		return d, err
	}
	d.IncidentRow = rows[0]
	if i.ParentID != 0 {
		if p, err := s.store.Incident(ctx, i.ParentID); err == nil && s.sees(actor, &p) {
			if rows, err = s.incidentRows(ctx, actor, []model.Incident{p}); err != nil {
				return d, err
			}
			d.Parent = &rows[0]
		}
	}
	members, err := s.store.IncidentMembers(ctx, id, membersShown)
	if err != nil {
		return d, err
	}
	if rows, err = s.incidentRows(ctx, actor, members); err != nil {
		return d, err
	}
	for _, m := range rows {
		if s.sees(actor, &m.Incident) {
			d.Members = append(d.Members, m)
		}
	}
	if d.Notes, err = s.store.IncidentNotes(ctx, id, 500); err != nil {
		return d, err
	}
	if d.Told, err = s.store.MessagesOf(ctx, id, 500); err != nil {
		return d, err
	}
	if err := s.nameTargets(ctx, d.Told); err != nil {
		return d, err
	}
	return d, s.incidentJob(ctx, actor, &d)
}

// nameTargets puts the names of channels in the place of their ids.
func (s *Service) nameTargets(ctx context.Context, told []model.Message) error {
	var names map[string]string
	for i := range told {
		if told[i].Channel == model.ChannelMail {
			continue
		}
		if names == nil {
			list, err := s.store.Channels(ctx)
			if err != nil {
				return err
			}
			names = map[string]string{}
			for _, c := range list {
				names[strconv.Itoa(c.ID)] = c.Name
			}
		}
		told[i].Target = cmp.Or(names[told[i].Target], "#"+told[i].Target)
	}
	return nil
}

// incidentJob adds what the actor may know of the job.
func (s *Service) incidentJob(ctx context.Context, actor model.Actor, d *IncidentDetail) error {
	if d.LastRun != 0 {
		if list, err := s.store.RunsWithTexts(ctx, []int64{d.LastRun}); err != nil {
			return err
		} else if len(list) > 0 && actor.Sees(list[0].GroupID) {
			d.Run = &list[0]
		}
	}
	if d.JobID == 0 {
		return nil
	}
	j, err := s.store.Job(ctx, d.JobID)
	if model.CodeOf(err) == model.CodeNotFound || err == nil && !actor.Sees(j.GroupID) {
		return nil
	}
	if err != nil {
		return err
	}
	d.Job, d.NextMS = &j, j.NextMS
	if d.Open() && d.OfRuns() { // failures of a trouble that is told are no events: they are counted when somebody looks
		if err := s.recount(ctx, d); err != nil {
			return err
		}
	}
	recent, err := s.store.LatestRuns(ctx, d.JobID, stripRuns)
	if err != nil {
		return err
	}
	if d.Run == nil && len(recent) > 0 && d.Kind() != model.WatchLate { // decided where it was planned: the newest is it
		if list, err := s.store.RunsWithTexts(ctx, []int64{recent[len(recent)-1].ID}); err != nil {
			return err
		} else if len(list) > 0 {
			d.Run = &list[0]
		}
	}
	for _, r := range recent {
		if r.Class() == model.ClassSucceeded {
			d.SucceededMS = max(d.SucceededMS, r.FinishedMS)
		}
	}
	d.NoteText, err = s.store.JobNote(ctx, d.JobID)
	return err
}

// recount says how often the job has failed by now, and how last.
func (s *Service) recount(ctx context.Context, d *IncidentDetail) error {
	var since model.Streak
	fires, last, err := s.failing(ctx, d.JobID, &since)
	if err != nil {
		return err
	}
	d.Failed = max(d.Failed, fires)
	if last != nil && last.ID > d.LastRun {
		d.LastRun, d.Run = last.ID, last
		d.Reason = last.Outcome()
	}
	return nil
}

// LogTail gives the last lines of a run's log, as far as its executor shows them before the
// context ends; "" when it does not.
func (s *Service) LogTail(ctx context.Context, r *model.Run) string {
	if r == nil || r.Address == "" || r.TriggerCode != model.CodeSuccess {
		return ""
	}
	var tail []string
	for line, n := 1, 0; n < tailReads; n++ {
		c, err := s.executors.ReadLog(ctx, r.Address, r.ID, r.TriggerTime, line)
		if err != nil || c.From != line || c.To < line {
			break
		}
		c = fromWhole(c)
		for l := range strings.SplitSeq(strings.TrimRight(c.Content, "\n"), "\n") {
			tail = append(tail[max(0, len(tail)-tailLines+1):], shortLine(l))
		}
		if line = c.To + 1; c.End {
			break
		}
	}
	text := strings.ToValidUTF8(strings.Join(tail, "\n"), "?")
	if len(text) > tailBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-tailBytes:], "")
	}
	return text
}

// shortLine keeps one endless line from being all that is shown.
func shortLine(line string) string {
	if len(line) <= tailLine {
		return line
	}
	return strings.Clone(strings.ToValidUTF8(line[:tailLine], "")) + "…"
}

// incidentFor gives an incident that the actor may act on.
func (s *Service) incidentFor(ctx context.Context, actor model.Actor, id int64) (model.Incident, error) {
	i, err := s.store.Incident(ctx, id)
	if err != nil {
		return i, err
	}
	switch {
	case !s.sees(actor, &i):
		return i, model.Errf(model.CodeNotFound, "error.incident_not_found", "ID", id)
	case i.GroupID != 0 && !actor.May(model.LevelOperate, i.GroupID), i.GroupID == 0 && actor.GroupLimit() != nil:
		return i, forbidden()
	}
	return i, nil
}

// AckIncident notes that the actor is at it: nobody is reminded any more.
func (s *Service) AckIncident(ctx context.Context, actor model.Actor, id int64) error {
	i, err := s.incidentFor(ctx, actor, id)
	if err != nil {
		s.note(ctx, actor, "incident.ack", incidentThing(&i), err)
		return err
	}
	now := s.now().UnixMilli()
	err = s.store.TouchIncident(ctx, id, model.IncidentNote{AtMS: now, Kind: "acked", User: actor.Name}, func(x *model.Incident) {
		x.AckedMS, x.AckedBy = now, actor.Name
	})
	s.note(ctx, actor, "incident.ack", incidentThing(&i), err)
	return err
}

// MuteIncident tells nobody of it for so long; until it ends when forGood; zero lifts the mute.
func (s *Service) MuteIncident(ctx context.Context, actor model.Actor, id int64, long time.Duration, forGood bool) error {
	i, err := s.incidentFor(ctx, actor, id)
	if err != nil {
		s.note(ctx, actor, "incident.mute", incidentThing(&i), err)
		return err
	}
	if long < 0 || long > 30*24*time.Hour {
		return model.Errf(model.CodeInvalid, "error.invalid")
	}
	now := s.now()
	note := model.IncidentNote{AtMS: now.UnixMilli(), Kind: "muted", User: actor.Name}
	until := now.Add(long).UnixMilli()
	switch {
	case forGood:
		until = model.MutedForGood
	case long == 0:
		note.Kind, until = "unmuted", 0
	default:
		note.Text = long.String()
	}
	err = s.store.TouchIncident(ctx, id, note, func(x *model.Incident) {
		x.MutedMS = until
		if until == 0 && x.TellMS == 0 && x.AckedMS == 0 {
			x.TellMS = now.UnixMilli()
		}
	})
	s.note(ctx, actor, "incident.mute", incidentThing(&i), err)
	return err
}

// maxComment is the length of a comment in characters.
const maxComment = 2000

// CommentIncident adds a line to the history.
func (s *Service) CommentIncident(ctx context.Context, actor model.Actor, id int64, text string) error {
	i, err := s.incidentFor(ctx, actor, id)
	if err != nil {
		s.note(ctx, actor, "incident.comment", incidentThing(&i), err)
		return err
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if text == "" {
		bad.AddField("comment", "field.required")
	}
	if utf8.RuneCountInString(text) > maxComment {
		bad.AddField("comment", "field.too_long", "Max", maxComment)
	}
	lines(bad, "comment", text, 4*maxComment)
	if len(bad.Fields) > 0 {
		return bad
	}
	err = s.store.TouchIncident(ctx, id, model.IncidentNote{AtMS: s.now().UnixMilli(), Kind: "comment", User: actor.Name, Text: text}, nil)
	s.note(ctx, actor, "incident.comment", incidentThing(&i), err)
	return err
}
