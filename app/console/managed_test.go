package console

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestAlarmsAndReportsOfOneExecutor: who administers one executor writes rules about it and its
// jobs, and has reports about it by mail; nothing else, whatever a form says.
func TestAlarmsAndReportsOfOneExecutor(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	own, foreign := storetest.Job(t, w.st, w.own.ID, nil), storetest.Job(t, w.st, w.foreign.ID, func(j *model.Job) { j.Name = foreignName })
	_, err := w.st.SaveChannel(ctx, model.Channel{Name: "Night shift", Kind: "webhook", URL: "https://example.org/hook-secret", Secret: "s3cret"})
	require.NoError(t, err)
	rules := func() []model.AlarmRule {
		list, err := w.st.AlarmRules(ctx)
		require.NoError(t, err)
		return list
	}
	mails := func() []model.ReportMail {
		list, err := w.st.ReportMails(ctx)
		require.NoError(t, err)
		return list
	}
	of := func(group int) string { return "executor=" + strconv.Itoa(group) }
	const rule, mail = "/alarms/rules", "/reports/mails"
	const aRule, aMail = "name=r&severity=info&mails=a@example.org&channel=1&", "name=m&kind=day&at=08:00&to=a@example.org&"
	for _, x := range []struct {
		path, form string
		status     int
	}{
		{rule, aRule + "scope=executor&" + of(w.own.ID), http.StatusSeeOther},
		{rule, aRule + "scope=job&job=" + strconv.Itoa(own.ID), http.StatusSeeOther},
		{rule, aRule + "scope=executor&" + of(w.foreign.ID), http.StatusUnprocessableEntity},
		{rule, aRule + "scope=job&job=" + strconv.Itoa(foreign.ID), http.StatusUnprocessableEntity},
		{rule, aRule + "scope=job&job=999", http.StatusUnprocessableEntity},
		{rule, aRule + "scope=tag&tag=x", http.StatusForbidden},
		{rule, aRule + "scope=default", http.StatusForbidden},
		{mail, aMail + of(w.own.ID), http.StatusSeeOther},
		{mail, aMail + of(w.foreign.ID), http.StatusUnprocessableEntity},
		{mail, aMail, http.StatusUnprocessableEntity},
	} {
		n := len(rules()) + len(mails())
		res := w.as("manager", http.MethodPost, x.path, x.form)
		assert.NotContains(t, text(t, res), foreignName, x.form)
		assert.Equal(t, x.status, res.StatusCode, x.form)
		assert.Equal(t, x.status == http.StatusSeeOther, len(rules())+len(mails()) > n, x.form)
		for _, who := range []string{"editor", "auditor", "everywhere"} {
			assert.Equal(t, http.StatusForbidden, w.as(who, http.MethodPost, x.path, x.form).StatusCode, "%s %s", who, x.form)
		}
	}
	// Of administrators, and about what is not theirs.
	ids := map[string]int{}
	for name, r := range map[string]model.AlarmRule{
		"default": {Name: "default", Scope: model.ScopeDefault}, "tag": {Name: "of a tag", Scope: model.ScopeTag, Tag: "x"},
		"foreign": {Name: foreignName, Scope: model.ScopeJob, JobID: foreign.ID}, "gone": {Name: "of nothing", Scope: model.ScopeJob, JobID: 999},
	} {
		ids[name], err = w.st.SaveAlarmRule(ctx, r)
		require.NoError(t, err)
	}
	whole, err := w.st.SaveReportMail(ctx, model.ReportMail{Name: "of everything", ReportMailSettings: model.ReportMailSettings{Kind: "day", At: "08:00", To: []string{"boss@example.org"}}})
	require.NoError(t, err)
	before := len(rules())
	for name, id := range ids {
		path := rule + "/" + strconv.Itoa(id)
		assert.Equal(t, http.StatusNotFound, w.as("manager", http.MethodGet, path+"/edit", "").StatusCode, name)
		assert.Equal(t, http.StatusNotFound, w.as("manager", http.MethodGet, path+"/delete", "").StatusCode, name)
		assert.Equal(t, http.StatusNotFound, w.as("manager", http.MethodPost, path+"/delete", "").StatusCode, name)
		assert.Equal(t, http.StatusNotFound, w.as("manager", http.MethodPost, path, aRule+"scope=executor&"+of(w.own.ID)).StatusCode, "%s taken over", name)
	}
	assert.Equal(t, http.StatusNotFound, w.as("manager", http.MethodPost, mail+"/"+strconv.Itoa(whole), aMail+of(w.own.ID)).StatusCode, "taken over")
	mine := rules()[0]
	assert.Equal(t, http.StatusUnprocessableEntity, w.as("manager", http.MethodPost, rule+"/"+strconv.Itoa(mine.ID), aRule+"scope=executor&"+of(w.foreign.ID)).StatusCode, "given away")
	assert.Equal(t, http.StatusForbidden, w.as("manager", http.MethodPost, rule+"/"+strconv.Itoa(mine.ID), aRule+"scope=default").StatusCode, "made the default")
	assert.Len(t, rules(), before)
	assert.Equal(t, mine, rules()[0])

	// What the pages show.
	d := w.doc(w.as("manager", http.MethodGet, "/alarms", ""))
	assert.Equal(t, 2, testid(d, "rule-row").Length())
	assert.Contains(t, d.Text(), "Night shift")
	assert.NotContains(t, d.Text(), "example.org/")
	for _, id := range []string{"default-rule", "add-channel", "delete-channel", "test-channel", "test-form"} {
		assert.Zero(t, testid(d, id).Length(), id)
		assert.Equal(t, id != "default-rule", testid(w.doc(w.as("root", http.MethodGet, "/alarms", "")), id).Length() > 0, id)
	}
	require.NoError(t, w.st.SetProfile(ctx, w.people[0].ID, model.Profile{Language: "en", Mail: "root@example.org"}))
	for _, path := range []string{"/alarms", rule + "/new", mail + "/new"} {
		assert.Contains(t, text(t, w.as("root", http.MethodGet, path, "")), "root@example.org", path)
		assert.NotContains(t, text(t, w.as("manager", http.MethodGet, path, "")), "root@example.org", "%s: whose address it is, is not theirs to know", path)
	}
	form := text(t, w.as("manager", http.MethodGet, rule+"/new?scope=default", ""))
	assert.NotContains(t, form, `value="tag"`)
	assert.NotContains(t, form, "foreign-app")
	assert.Contains(t, form, "Night shift")
	d = w.doc(w.as("manager", http.MethodGet, mail, ""))
	assert.Equal(t, 1, testid(d, "report-mail-row").Length())
	assert.NotContains(t, text(t, w.as("manager", http.MethodGet, mail+"/new", "")), "foreign-app")
	for who, n := range map[string]int{"manager": 1, "editor": 0, "root": 1} {
		assert.Equal(t, n, testid(w.doc(w.as(who, http.MethodGet, "/incidents", "")), "alarm-settings").Length(), who)
		assert.Equal(t, n, testid(w.doc(w.as(who, http.MethodGet, "/reports", "")), "report-mails").Length(), who)
	}

	// A job that goes to another executor takes its rules along.
	moved := rules()[1]
	require.Equal(t, model.ScopeJob, moved.Scope)
	own.GroupID = w.foreign.ID
	require.NoError(t, w.st.UpdateJob(ctx, &own, false, false, time.Now()))
	assert.Equal(t, http.StatusNotFound, w.as("manager", http.MethodPost, rule+"/"+strconv.Itoa(moved.ID)+"/delete", url.Values{}.Encode()).StatusCode)
	assert.Equal(t, http.StatusSeeOther, w.as("manager", http.MethodPost, rule+"/"+strconv.Itoa(mine.ID)+"/delete", "").StatusCode)
	assert.Len(t, rules(), before-1)
}
