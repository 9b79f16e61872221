package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// TestBadInput makes every call that must not work: each answers what is wrong
// and changes nothing.
func TestBadInput(t *testing.T) {
	cfg := testConfig(t)
	c := start(t, cfg)
	group, job := addJob(t, c)
	add := func(change string) string {
		return fmt.Sprintf(`{"jobGroup":%d,"name":"n","author":"a","scheduleType":"CRON","scheduleConf":"0 0 0 * * ?",
			"misfireStrategy":"DO_NOTHING","executorRouteStrategy":"FIRST","executorHandler":"h","executorBlockStrategy":"SERIAL_EXECUTION","glueType":"BEAN"%s}`, group, change)
	}
	before := dump(t, cfg)
	for name, tc := range map[string]struct{ call, token, body, says string }{
		"no token":                  {"registry", "", `{}`, "access token is wrong"},
		"wrong token":               {"callback", "nope", `[{"logId":1,"handleCode":200}]`, "access token is wrong"},
		"unknown call":              {"dropTables", token, `{}`, "unknown API call"},
		"no call":                   {"", token, `{}`, "unknown API call"},
		"empty body":                {"registry", token, ``, "empty"},
		"malformed JSON":            {"registry", token, `{"registryGroup":`, "JSON"},
		"an array for an object":    {"registry", token, `[1]`, "JSON"},
		"trailing data":             {"registry", token, `{} {}`, "JSON"},
		"body over 5 MiB":           {"callback", token, `[{"logId":1,"handleMsg":"` + strings.Repeat("x", 5<<20) + `"}]`, "larger than 5242880"},
		"callback malformed":        {"callback", token, `[{"logId":"seven"}]`, "invalid number"},
		"callback of no run":        {"callback", token, `[]`, "no callback"},
		"callback for unknown run":  {"callback", token, `[{"logId":999,"handleCode":200}]`, "unknown run 999"},
		"registry blank key":        {"registry", token, `{"registryGroup":"EXECUTOR","registryKey":" ","registryValue":"http://h:1/"}`, "registryKey"},
		"registry blank value":      {"registry", token, `{"registryGroup":"EXECUTOR","registryKey":"app-x","registryValue":""}`, "registryValue"},
		"registry blank group":      {"registry", token, `{"registryGroup":"","registryKey":"app-x","registryValue":"http://h:1/"}`, "registryGroup"},
		"registry long key":         {"registry", token, `{"registryGroup":"EXECUTOR","registryKey":"` + strings.Repeat("k", 256) + `","registryValue":"http://h:1/"}`, "registryKey"},
		"registry not http":         {"registry", token, `{"registryGroup":"EXECUTOR","registryKey":"app-x","registryValue":"ftp://h:1/"}`, "ftp://h:1/"},
		"registry script address":   {"registry", token, `{"registryGroup":"EXECUTOR","registryKey":"app-x","registryValue":"javascript:alert(1)"}`, "javascript:alert(1)"},
		"registry two addresses":    {"registry", token, `{"registryGroup":"EXECUTOR","registryKey":"app-x","registryValue":"http://a:1/,http://b:1/"}`, "registryValue"},
		"registryRemove blank":      {"registryRemove", token, `{"registryGroup":"EXECUTOR","registryKey":"","registryValue":""}`, "registryKey"},
		"start unknown job":         {"startJob", token, `{"id":4711}`, "4711"},
		"stop unknown job":          {"stopJob", token, `{"id":4711}`, "4711"},
		"remove unknown job":        {"removeJob", token, `{"id":4711}`, "4711"},
		"update unknown job":        {"updateJob", token, `{"id":4711}`, "4711"},
		"trigger unknown job":       {"triggerJob", token, `{"id":4711}`, "4711"},
		"id beyond 2^31":            {"startJob", token, `{"id":2147483648}`, "2147483648"},
		"id far beyond":             {"triggerJob", token, `{"id":99999999999999999999}`, "JSON"},
		"negative id":               {"startJob", token, `{"id":-1}`, "-1"},
		"id with a fraction":        {"startJob", token, `{"id":1.5}`, "JSON"},
		"start a job without times": {"startJob", token, fmt.Sprintf(`{"id":%d}`, job), "schedule"},
		"trigger at ftp":            {"triggerJob", token, fmt.Sprintf(`{"id":%d,"addressList":"ftp://h/"}`, job), "ftp://h/"},
		"group beyond 2^31":         {"addJob", token, add(`,"jobGroup":2147483648`), "group"},
		"unknown group":             {"addJob", token, add(`,"jobGroup":77`), "group"},
		"broken cron":               {"addJob", token, add(`,"scheduleConf":"0 0 0 * * *"`), "schedule_conf"},
		"cron names the field":      {"addJob", token, add(`,"scheduleConf":"0 61 0 * * ?"`), "minute"},
		"cron never fires":          {"addJob", token, add(`,"scheduleConf":"0 0 0 30 2 ?"`), "never"},
		"cron too long":             {"addJob", token, add(`,"scheduleConf":"` + strings.Repeat("1,", 70) + `1 0 0 * * ?"`), "128"},
		"fixed rate of zero":        {"addJob", token, add(`,"scheduleType":"FIX_RATE","scheduleConf":"0"`), "schedule_conf"},
		"unknown schedule type":     {"addJob", token, add(`,"scheduleType":"WEEKLY"`), "WEEKLY"},
		"unknown route":             {"addJob", token, add(`,"executorRouteStrategy":"NEAREST"`), "NEAREST"},
		"unknown block strategy":    {"addJob", token, add(`,"executorBlockStrategy":"WAIT"`), "WAIT"},
		"unknown misfire":           {"addJob", token, add(`,"misfireStrategy":"ALL"`), "ALL"},
		"unknown run mode":          {"addJob", token, add(`,"glueType":"GLUE_PERL"`), "GLUE_PERL"},
		"no name":                   {"addJob", token, add(`,"name":"  "`), "name"},
		"name too long":             {"addJob", token, add(`,"name":"` + strings.Repeat("长", 256) + `"`), "255"},
		"author too long":           {"addJob", token, add(`,"author":"` + strings.Repeat("a", 65) + `"`), "64"},
		"handler too long":          {"addJob", token, add(`,"executorHandler":"` + strings.Repeat("a", 256) + `"`), "255"},
		"handler with control":      {"addJob", token, add(`,"executorHandler":"a\u0007b"`), "handler"},
		"no handler":                {"addJob", token, add(`,"executorHandler":""`), "handler"},
		"parameter too long":        {"addJob", token, add(`,"executorParam":"` + strings.Repeat("a", 65536) + `"`), "65535"},
		"negative time-out":         {"addJob", token, add(`,"executorTimeout":-1`), "timeout"},
		"a billion retries":         {"addJob", token, add(`,"executorFailRetryCount":1000000000`), "retry"},
		"negative retries":          {"addJob", token, add(`,"executorFailRetryCount":-1`), "retry"},
		"negative wait":             {"addJob", token, add(`,"retryDelay":-5`), "retry_delay"},
		"a wait of years":           {"addJob", token, add(`,"retryDelay":99999999`), "retry_delay"},
		"misfire threshold of days": {"addJob", token, add(`,"misfireAfter":86401`), "misfire_after"},
		"runs kept for ages":        {"addJob", token, add(`,"keepDays":36501`), "keep_days"},
		"kept for less than ever":   {"addJob", token, add(`,"keepFailedDays":-2`), "keep_failed_days"},
		"another group in an edit":  {"updateJob", token, fmt.Sprintf(`{"id":%d,"jobGroup":%d}`, job, group+1), "cannot be changed"},
		"another mode in an edit":   {"updateJob", token, fmt.Sprintf(`{"id":%d,"glueType":"GLUE_SHELL"}`, job), "cannot be changed"},
		"bad mail":                  {"addJob", token, add(`,"alarmEmail":"not a mail"`), "alarm_email"},
		"script without source":     {"addJob", token, add(`,"glueType":"GLUE_SHELL"`), "glue_source"},
		"child that is no number":   {"addJob", token, add(`,"childJobId":"1,x"`), "child_ids"},
		"child that does not exist": {"addJob", token, add(`,"childJobId":"4711"`), "4711"},
		"its own child":             {"updateJob", token, fmt.Sprintf(`{"id":%d,"childJobId":"%d"}`, job, job), "child_ids"},
	} {
		t.Run(name, func(t *testing.T) {
			reply := post(t, c, "/api/"+tc.call, tc.token, tc.body)
			require.Equal(t, 500, reply.Code)
			require.Contains(t, reply.Msg, tc.says)
			require.NotContains(t, reply.Msg, "error.", "a translation is missing")
		})
	}
	t.Run("GET", func(t *testing.T) {
		resp, err := http.Get(c.URL + "api/registry")
		require.NoError(t, err)
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		require.Contains(t, string(body), "POST")
	})
	require.Equal(t, before, dump(t, cfg), "something was changed")
}

func TestExecutorCalls(t *testing.T) {
	c := start(t, testConfig(t))
	addJob(t, c)
	reg := `{"registryGroup":"EXECUTOR","registryKey":"test-app","registryValue":"http://10.0.0.1:9999/"}`
	addresses := func() int {
		page, err := c.Jobs.Executors(t.Context(), admin())
		require.NoError(t, err)
		require.Len(t, page.Rows, 1)
		return len(page.Rows[0].Addresses())
	}
	require.Equal(t, 200, post(t, c, "/api/registry", token, reg).Code)
	require.Equal(t, 1, addresses(), "usable at once")
	require.Equal(t, 200, post(t, c, "/xxl-job-admin/api/registry", token, reg).Code, "the old context path")
	require.Equal(t, 1, addresses())
	require.Equal(t, 200, post(t, c, "/api/registryRemove", token, reg).Code)
	require.Zero(t, addresses(), "gone at once")

	require.Equal(t, 200, post(t, c, "/api/registry", token, strings.Replace(reg, "test-app", "new-app", 1)).Code)
	page, err := c.Jobs.Executors(t.Context(), admin())
	require.NoError(t, err)
	require.Equal(t, "new-app", page.Unassigned[0].AppName, "an unknown app name is offered")
}

func TestJobCalls(t *testing.T) {
	c := start(t, testConfig(t))
	group, child := addJob(t, c)
	reply := post(t, c, "/api/addJob", token, fmt.Sprintf(`{"jobGroup":%d,"name":"by api","author":"a","scheduleType":"FIX_RATE","scheduleConf":"3600",
		"executorHandler":"h","glueType":"BEAN","childJobId":"%d"}`, group, child))
	require.Equal(t, 200, reply.Code, reply.Msg)
	require.Equal(t, `"2"`, string(reply.Value), "the id is a string, as scripts expect")
	get := func() model.Job {
		j, err := c.Jobs.Job(t.Context(), admin(), 2)
		require.NoError(t, err)
		return j
	}
	require.Equal(t, model.JobStopped, get().Status)
	require.Equal(t, 200, post(t, c, "/api/startJob", token, `{"id":2}`).Code)
	require.Equal(t, model.JobRunning, get().Status)
	require.Equal(t, 200, post(t, c, "/api/updateJob", token, `{"id":2,"name":"renamed","keepDays":0,"keepFailedDays":90}`).Code)
	require.Equal(t, "renamed", get().Name)
	require.Equal(t, model.Keep{Succeeded: model.KeepForever, Failed: 90}, get().Keep)
	require.Equal(t, 200, post(t, c, "/api/updateJob", token, `{"id":2,"keepDays":-1}`).Code)
	require.Equal(t, model.Keep{Failed: 90}, get().Keep)
	require.Equal(t, "1", get().ChildIDs, "a key that is missing leaves the value")
	require.Equal(t, model.JobRunning, get().Status)
	run := post(t, c, "/api/triggerJob", token, `{"id":2,"executorParam":"once"}`)
	require.Equal(t, 200, run.Code)
	require.Equal(t, `"1"`, string(run.Value), "the id of the run leads to it")
	detail, err := c.Jobs.Run(t.Context(), admin(), 1)
	require.NoError(t, err)
	require.Equal(t, model.TriggerAPI, detail.Run.TriggerType)
	require.Equal(t, "once", detail.Run.Param)
	require.Equal(t, 200, post(t, c, "/api/stopJob", token, `{"id":2}`).Code)
	require.Equal(t, 500, post(t, c, "/api/updateJob", token, fmt.Sprintf(`{"id":%d,"childJobId":"2"}`, child)).Code, "2 leads to 1 already: a cycle")
	require.Equal(t, 200, post(t, c, "/api/removeJob", token, `{"id":2}`).Code)
	_, err = c.Jobs.Job(t.Context(), admin(), 2)
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
}

func TestCallbackStoresKnownRunsBesideUnknownOnes(t *testing.T) {
	c := start(t, testConfig(t))
	_, job := addJob(t, c)
	// Nothing answers at port 1: the run fails, and then a callback proves otherwise.
	id, err := c.Jobs.RunNow(t.Context(), admin(), job, jobs.RunInput{Addresses: "http://127.0.0.1:1/"})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		d, err := c.Jobs.Run(t.Context(), admin(), id)
		return err == nil && d.Run.Result() == model.ResultFailed
	}, eventually, tick)
	reply := post(t, c, "/api/callback", token, fmt.Sprintf(`[{"logId":999,"handleCode":200},{"logId":%d,"handleCode":200,"handleMsg":{"rows":3}}]`, id))
	require.Equal(t, 200, reply.Code, "refused as a whole it would be sent again for ever")
	require.Contains(t, reply.Msg, "unknown run 999")
	d, err := c.Jobs.Run(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Equal(t, model.ResultSucceeded, d.Run.Result())
	require.Equal(t, `{"rows":3}`, d.Run.HandleMsg)
}
