package app

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
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

// TestManyJobsAreToldInTheWordsOfTheirRule: of the rule by which the reader hears of them. What
// the person who has the address chose comes first.
func TestManyJobsAreToldInTheWordsOfTheirRule(t *testing.T) {
	speaks := func(language string, mails ...string) model.AlarmSettings {
		return model.AlarmSettings{Language: language, Zone: "Europe/Berlin", Mails: mails, LateMinutes: 5}
	}
	save := func(p *press, rules ...model.AlarmRule) (last int) {
		for _, r := range rules {
			id, err := p.store.SaveAlarmRule(t.Context(), r)
			require.NoError(t, err)
			last = id
		}
		return last
	}
	told := func(p *press, m model.Message) (string, string) {
		a, err := p.alarm(t.Context(), m)
		require.NoError(t, err)
		return a.L.Lang(), a.Zone.String()
	}
	ofGroup := model.AlarmRule{Name: "g", Scope: model.ScopeExecutor, GroupID: 1, AlarmSettings: speaks("zh-Hant")}
	ofJob := model.AlarmRule{Name: "j", Scope: model.ScopeJob, JobID: 3, AlarmSettings: speaks("zh-Hans", "ONCALL@example.org")}
	for _, chosen := range []bool{false, true} {
		t.Run("late", func(t *testing.T) {
			p := newPress(t)
			m := p.lates(model.StepOpened)
			id := save(p, ofGroup, model.AlarmRule{Name: "t", Scope: model.ScopeTag, Tag: "nightly", AlarmSettings: speaks("zh-Hans")})
			p.exec(`UPDATE carillon_incident SET subject = ? WHERE subject = 'lates:1/0'`, fmt.Sprintf("lates:1/%d", id))
			want, zone := "zh-Hans", "Europe/Berlin"
			if chosen {
				p.reads(model.Profile{Language: "en", Zone: "Asia/Tokyo"}, "oncall@example.org", false)
				want, zone = "en", "Asia/Tokyo"
			}
			lang, in := told(p, m)
			assert.Equal(t, []string{want, zone}, []string{lang, in})
		})
		t.Run("an executor", func(t *testing.T) {
			p := newPress(t)
			m := p.many(model.StepOpened, "executor", model.ReasonUnreached, 0)
			save(p, ofGroup, ofJob)
			want := "zh-Hans"
			if chosen {
				p.reads(model.Profile{Language: "en"}, "oncall@example.org", false)
				want = "en"
			}
			lang, in := told(p, m)
			assert.Equal(t, []string{want, "Europe/Berlin"}, []string{lang, in})
			m.Target = "else@example.org"
			lang, _ = told(p, m)
			assert.Equal(t, "zh-Hant", lang, "nobody names it: the executor's")
		})
	}
}

// TestWhereAJobWentIsNotTold: its name may be another one there, and not for these readers.
func TestWhereAJobWentIsNotTold(t *testing.T) {
	for _, all := range []bool{false, true} {
		p := newPress(t)
		m := p.many(model.StepOpened, "executor", model.ReasonUnreached, 0)
		if all {
			m.JobIDs = nil
		}
		before, err := p.alarm(t.Context(), m)
		require.NoError(t, err)
		g := storetest.Group(t, p.store, "elsewhere", "http://10.1.2.4:9999/")
		p.exec(`UPDATE xxl_job_info SET job_group = ?, job_desc = 'Takeover of a rival' WHERE id = 3`, g.ID)
		after, err := p.alarm(t.Context(), m)
		require.NoError(t, err)
		assert.Len(t, after.Members, len(before.Members)-1)
		assert.NotContains(t, after.Text(), "Takeover")
	}
}
