package app

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestMailsAreWrittenForTheirReader: in the language and the zone that the person who has the
// address chose; where nothing was chosen in those of the rule, or of the report.
func TestMailsAreWrittenForTheirReader(t *testing.T) {
	tokyo := model.Profile{Language: "zh-Hant", Zone: "Asia/Tokyo"}
	for name, x := range map[string]struct {
		profile    model.Profile
		mail       string
		disabled   bool
		says, zone string
	}{
		"chosen":             {tokyo, "OnCall@Example.org", false, "任務異常", "12:00:05"},
		"only the language":  {model.Profile{Language: "zh-Hant"}, "oncall@example.org", false, "任務異常", "04:00:05"},
		"only the zone":      {model.Profile{Zone: "Asia/Tokyo"}, "oncall@example.org", false, "任务异常", "12:00:05"},
		"somebody else":      {tokyo, "other@example.org", false, "任务异常", "04:00:05"},
		"an account no more": {tokyo, "oncall@example.org", true, "任务异常", "04:00:05"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPress(t)
			p.reads(x.profile, x.mail, x.disabled)
			p.ruled("zh-Hans", "Europe/Berlin")
			_, _, err := p.Send(t.Context(), p.failed(model.StepOpened, "Settlement", "", 0))
			require.NoError(t, err)
			got := harmless(t, p.tray.raw)
			assert.Contains(t, got.GetHeader("Subject"), x.says)
			assert.Contains(t, got.Text, "2026-11-20 "+x.zone)
		})
	}
	t.Run("a channel", func(t *testing.T) {
		p := newPress(t)
		p.reads(tokyo, "7", false)
		m := p.failed(model.StepOpened, "Settlement", "", 0)
		m.Channel, m.Target = model.ChannelOther, "7"
		a, err := p.alarm(t.Context(), m)
		require.NoError(t, err)
		assert.Equal(t, "en", a.L.Lang())
	})
	t.Run("a summary", func(t *testing.T) {
		p := newPress(t)
		p.reads(tokyo, "oncall@example.org", false)
		m := p.summed()
		p.ruled("zh-Hans", "Europe/Berlin")
		_, _, err := p.Send(t.Context(), m)
		require.NoError(t, err)
		got := harmless(t, p.tray.raw)
		assert.Contains(t, got.GetHeader("Subject"), "則告警彙總")
		assert.Contains(t, got.Text, "2026-11-20 12:03")
	})
	for _, lang := range []string{"", "en"} {
		t.Run("a report in "+lang, func(t *testing.T) {
			p := newPress(t)
			p.reads(tokyo, "boss@example.org", false)
			m := p.report("day")
			about, err := p.store.ReportMail(t.Context(), 1)
			require.NoError(t, err)
			about.Language = lang
			_, err = p.store.SaveReportMail(t.Context(), about)
			require.NoError(t, err)
			_, _, err = p.Send(t.Context(), m)
			require.NoError(t, err)
			assert.Contains(t, harmless(t, p.tray.raw).GetHeader("Subject"), p.texts.Localizer(cmp.Or(lang, "zh-Hant")).T("report.title.day"))
		})
	}
}

// reads makes an account with an address.
func (p *press) reads(profile model.Profile, address string, disabled bool) {
	p.t.Helper()
	u := model.User{Name: "reader", PasswordHash: "x"}
	var err error
	u.ID, err = p.store.InsertUser(p.t.Context(), &u)
	require.NoError(p.t, err)
	profile.Mail = address
	require.NoError(p.t, p.store.SetProfile(p.t.Context(), u.ID, profile))
	if disabled {
		p.exec(`UPDATE carillon_user SET disabled = 1`)
	}
}

// ruled makes the default rule.
func (p *press) ruled(language, zone string) {
	p.t.Helper()
	_, err := p.store.SaveAlarmRule(p.t.Context(), model.AlarmRule{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Language: language, Zone: zone}})
	require.NoError(p.t, err)
}
