package console

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// toldRun is a run with the reason as the center leaves it: planned late, refused, lost
// and so on, with what it says of that. Words of executors have no blanks here.
func toldRun(id int64, now time.Time, info model.ReasonInfo) model.Run {
	at := now.Add(-time.Hour)
	r := model.Run{
		ID: id, GroupID: 1, JobID: 1039, JobName: "Exchange rates", Handler: "fetchRates", TriggerTime: at, PlannedMS: at.UnixMilli(),
		TriggerType: model.TriggerCron, Owner: "carillon-1", Phase: model.PhaseFinished, TriggerCode: 500, Reason: info.Code,
		FinishedMS: at.UnixMilli() + 90_000,
	}
	if info.Class == model.ClassNotSent {
		r.Phase, r.TriggerCode, r.AlarmStatus = model.PhaseMissed, model.CodeMissed, 1
	}
	const address, app, text = "http://10.0.4.16:9999/", "finance-core", "connection-refused"
	late := []any{"LateMS", int64(3_723_000), "Strategy", string(model.MisfireSkip)}
	outage := append(slices.Clone(late), "FromAt", at.UnixMilli(), "UntilAt", now.UnixMilli())
	many := []any{"App", app, "Addresses", "http://10.0.4.16:9999/, http://10.0.4.17:9999/"}
	said := func(code string, kv ...any) { r.Note.Said = append(r.Note.Said, model.Say(code, kv...)) }
	sent := func() {
		r.Address, r.SentMS = address, at.UnixMilli()+40
		r.Note.Route = []model.Attempt{
			{Address: "http://10.0.4.17:9999/", Asked: model.AskedBeat, Text: text, MS: 2}, {Address: address, Asked: model.AskedBeat, Code: 200, MS: 4},
			{Address: address, Asked: model.AskedRun, Code: 500, Text: "no", At: at.UnixMilli() + 40, MS: 12},
		}
	}
	ended := func(code int, msg string) {
		sent()
		r.TriggerCode, r.AcceptedMS, r.HandleCode, r.HandleMsg, r.HandleTime = 200, at.UnixMilli()+52, code, msg, at.Add(time.Minute)
	}
	switch info.Code {
	case model.ReasonMisfire:
		said(info.Code, late...)
		r.MissedFires = 40
		said("stands_for", "Count", 40, "FromAt", at.UnixMilli())
	case model.ReasonCenterDown, model.ReasonStarved, model.ReasonNoDatabase, model.ReasonLocked:
		said(info.Code, outage...)
	case model.ReasonTakenBack:
		said(info.Code, "Name", "olga")
	case model.ReasonTakeover:
		said(info.Code, append(late, "Owner", "carillon-2#7")...)
	case model.ReasonWaited:
		said(info.Code, "WaitedMS", 600_000)
	case model.ReasonOverlap:
		said(info.Code, "Run", int64(88214000))
	case model.ReasonCycle:
		said(info.Code, "Chain", "1039 > 1042 > 1039", "Max", 20)
	case model.ReasonPaused, model.ReasonCancelled:
		said(info.Code)
	case model.ReasonDiscarded, model.ReasonRefused, model.ReasonUnreached:
		sent()
		said(info.Code, "Address", address, "Text", text)
	case model.ReasonNoAddress:
		said(info.Code, "App", app)
	case model.ReasonAllBusy, model.ReasonNoneAnswers, model.ReasonBadAddress, model.ReasonWrongToken:
		said(info.Code, many...)
	case model.ReasonJobGone, model.ReasonExecutorGone:
		said(info.Code, "ID", 12345678)
	case model.ReasonLost:
		sent()
		r.TriggerCode, r.AcceptedMS, r.HandleCode, r.Note.Own = 200, at.UnixMilli()+52, 500, true
		said("lost_idle", "Address", address)
	case model.ReasonKilled:
		ended(500, "interrupted")
		said("killed_by", "Name", "olga")
	case model.ReasonCovered:
		ended(500, "interrupted")
		said(info.Code, "Run", int64(88214871))
	case model.ReasonTimeout:
		ended(502, "")
		r.Reason, r.Note.Own = "", true
		said("sdk_timeout", "LimitMS", 30_000)
	case model.ReasonError:
		ended(500, "duplicate-key")
		r.Reason = ""
	}
	r.Note = model.DecodeNote(r.Note.Encode()) // as it comes out of the database
	return r
}

var (
	keyInText = regexp.MustCompile(`\b(?:why|reason|missed|runs?|result|enum|dash|error|field|dur)\.[a-z_]+`)
	sentence  = regexp.MustCompile(`[A-Za-z]+ [a-z]+ [a-z]+`)
)

// TestEveryReasonHasItsPage draws the page of a run of each reason, with and without
// a note, in three languages: it says why, in words of that language only.
func TestEveryReasonHasItsPage(t *testing.T) {
	for _, lang := range i18n.Languages() {
		s := newSite(t)
		s.fake.users[0].Language = lang
		id := int64(90_000_000)
		want := map[int64]model.ReasonInfo{}
		for _, info := range model.Reasons() {
			r := toldRun(id, s.fake.now, info)
			require.Equal(t, info.Code, r.Outcome())
			old := r
			old.ID, old.Note, old.HandleMsg = id+1, model.Note{}, ""
			s.fake.runs = append(s.fake.runs, r, old)
			want[r.ID], want[old.ID] = info, info
			id += 2
		}
		s.login("admin")
		for id, info := range want {
			name := fmt.Sprintf("%s %s %d", lang, info.Code, id)
			d := s.doc(s.get(fmt.Sprintf("/runs/%d", id)))
			why := strings.TrimSpace(testid(d, "run-message").Text())
			require.NotEmpty(t, why, name)
			require.Equal(t, "run-message", d.Find("#run-head .heading").Next().AttrOr("data-testid", ""), "%s begins with why", name)
			for _, text := range texts(d.Find("#main")) {
				require.NotRegexp(t, keyInText, text, name)
				require.NotContains(t, text, "{{", name)
				require.NotContains(t, text, "<no value>", name)
				require.NotContains(t, text, "e+0", "%s: a number as a float", name)
				if lang != i18n.English {
					require.NotRegexp(t, sentence, text, name)
				}
			}
			if info.Code == model.ReasonRefused && id%2 == 0 {
				require.Equal(t, 3, testid(d, "route").Find("tbody tr").Length(), "all attempts")
			}
		}
		d := s.doc(s.get("/runs"))
		for _, text := range texts(d.Find("#main")) {
			require.NotRegexp(t, keyInText, text)
			require.NotContains(t, text, "<no value>")
		}
		for _, info := range model.Reasons() { // and the choice of reasons
			require.Equal(t, 1, d.Find(`#reason option[value="`+info.Code+`"]`).Length(), info.Code)
		}
	}
}

// texts gives what people read or hear: the texts of a part of a page and the
// attributes that are texts.
func texts(part *goquery.Selection) (out []string) {
	part.Find("*").Each(func(_ int, e *goquery.Selection) {
		for _, name := range []string{"title", "aria-label", "placeholder", "alt"} {
			if v := e.AttrOr(name, ""); v != "" {
				out = append(out, v)
			}
		}
		e.Contents().Each(func(_ int, c *goquery.Selection) {
			if goquery.NodeName(c) == "#text" {
				if v := strings.TrimSpace(c.Text()); v != "" {
					out = append(out, v)
				}
			}
		})
	})
	return out
}
