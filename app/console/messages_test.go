package console

import (
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// TestMessages: the executor's own words come first, then the center's; old rows and
// rows of others keep theirs, as text.
func TestMessages(t *testing.T) {
	b, err := i18n.New("en")
	require.NoError(t, err)
	lost := model.Note{Said: []model.Said{model.Say("lost_away", "Address", "http://a/")}, Own: true}
	elsewhere := model.Note{Said: []model.Said{model.Say("closed_elsewhere")}}
	for name, c := range map[string]struct {
		run  model.Run
		want string
	}{
		"their words": {model.Run{Phase: model.PhaseFinished, TriggerCode: 200, HandleCode: 500, HandleMsg: "duplicate <key>"}, "duplicate <key>"},
		"theirs first": {model.Run{Phase: model.PhaseFinished, TriggerCode: 200, HandleCode: 500, HandleMsg: "interrupted", Reason: model.ReasonKilled,
			Note: model.Note{Said: []model.Said{model.Say("killed_by", "Name", "olga")}}}, "interrupted\nKilled by olga."},
		"ours": {model.Run{Phase: model.PhaseFinished, TriggerCode: 200, HandleCode: 500, HandleMsg: "in the center's language", Reason: model.ReasonLost, Note: lost},
			"Result lost: nothing listens at http://a/ any more."},
		"an old row that was refused":    {model.Run{Phase: model.PhaseFinished, TriggerCode: 500, TriggerMsg: "a: no route", Reason: model.ReasonUnreached}, "a: no route"},
		"an old row that was not sent":   {model.Run{Phase: model.PhaseMissed, TriggerCode: 410, Reason: model.ReasonPaused}, "Cancelled: the job was stopped before this run was sent."},
		"a failure without a word":       {model.Run{Phase: model.PhaseFinished, TriggerCode: 200, HandleCode: 500}, "The executor reported a failure."},
		"a success without a word":       {model.Run{Phase: model.PhaseFinished, TriggerCode: 200, HandleCode: 200}, ""},
		"a kill that is asked for":       {model.Run{Phase: model.PhaseAccepted, TriggerCode: 200, Reason: model.ReasonKilled}, ""},
		"of a Java admin":                {model.Run{TriggerCode: 200, HandleCode: 500, HandleMsg: "<b>bad</b><br>at X<script>alert(1)</script>"}, "bad\nat X"},
		"refused by a Java admin":        {model.Run{TriggerCode: 500, TriggerMsg: "<span>address empty</span>"}, "address empty"},
		"a result that a Java admin got": {model.Run{Phase: model.PhaseFinished, TriggerCode: 200, HandleCode: 500, HandleMsg: "no<br><span>x</span>", Note: elsewhere}, "no\nx\n" + said(b, elsewhere)},
		"a code of a newer center":       {model.Run{Phase: model.PhaseMissed, TriggerCode: 410, Reason: "eclipse", Note: model.Note{Said: []model.Said{model.Say("eclipse", "Text", "dark")}}}, "dark"},
	} {
		require.Equal(t, c.want, runMessage(b.Localizer("en"), time.UTC, c.run), name)
	}
}

func said(b *i18n.Bundle, n model.Note) string { return b.Localizer("en").T("why." + n.Said[0].Code) }

// TestRunListFilters: the choice of reasons fits the chosen result, what does not fit is
// dropped, and a list of fires says so and leads to all attempts.
func TestRunListFilters(t *testing.T) {
	s := newSite(t).login("admin")
	d := s.doc(s.get("/runs?status=missed&reason=misfire&fires=1"))
	require.Equal(t, "misfire", d.Find("#reason option[selected]").AttrOr("value", ""))
	require.Zero(t, d.Find(`#reason option[value="lost"]`).Length())
	require.Equal(t, 1, d.Find(`form input[name="fires"][value="1"]`).Length(), "the filter keeps it")
	all := testid(d, "fires-note").Find("a").AttrOr("href", "")
	require.Equal(t, "/runs?reason=misfire&status=missed", all)
	d.Find(`[data-testid^="segment-"]`).Each(func(_ int, e *goquery.Selection) {
		require.NotContains(t, e.AttrOr("href", ""), "reason=", "another result has other reasons")
		require.Contains(t, e.AttrOr("href", ""), "fires=1")
	})
	d = s.doc(s.get("/runs?status=failed&reason=misfire"))
	require.Equal(t, "", strings.TrimSpace(d.Find("#reason option[selected]").AttrOr("value", "")))
	require.Equal(t, 1, d.Find(`#reason option[value="lost"]`).Length())
	require.Zero(t, testid(d, "fires-note").Length())
	d = s.doc(s.get("/runs?status=succeeded"))
	require.Zero(t, d.Find("#reason, label[for=reason]").Length(), "a success has no reason")
}
