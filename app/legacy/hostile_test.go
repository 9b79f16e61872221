package legacy

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestCallsOfAllKinds: parameters that make no sense are refused with a text or ignored; no
// call fails inside, and none takes long.
func TestCallsOfAllKinds(t *testing.T) {
	t.Parallel()
	st := storetest.OpenURL(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), time.UTC)
	own := storetest.Group(t, st, "own-app", "")
	j := storetest.Job(t, st, own.ID, nil)
	r := storetest.Run(t, st, j, nil)
	h := New(Options{
		Service: jobs.New(jobs.Options{Store: st, Ringer: outside{}, Executors: outside{}, Location: time.UTC}),
		Logins:  people{"root": {ID: 99, Name: "root", Role: model.RoleAdmin}},
		Logger:  slog.New(slog.NewTextHandler(t.Output(), nil)), Text: func(e *model.Error) string { return e.Error() }, Next: http.NotFoundHandler(),
	})
	values := map[string]string{
		"garbage": "x'\"><script>alert(1)</script>", "int32": "2147483648", "int64": "9223372036854775807", "beyond": "9223372036854775808", "negative": "-1",
		"no UTF-8": "a\xff\xfe", "NUL": "a\x00b", "long": strings.Repeat("w", 100_000), "many nines": strings.Repeat("9", 400), "wild": strings.Repeat("%_", 5000),
		"a time": "9999-12-31 23:59:59", "times": "0001-01-01 00:00:00 - 9999-12-31 23:59:59", "commas": strings.Repeat(",", 1000),
	}
	names := []string{
		"id", "ids[]", "jobGroup", "jobId", "triggerStatus", "jobDesc", "name", "executorHandler", "author", "start", "length", "offset", "pagesize", "logStatus", "filterTime",
		"logId", "fromLineNum", "appname", "title", "addressType", "addressList", "username", "password", "role", "permission", "type", "startDate", "endDate", "oldPassword",
		"scheduleType", "scheduleConf", "executorParam", "executorTimeout", "executorFailRetryCount", "childJobId", "glueType", "glueSource", "glueRemark", "misfireStrategy",
	}
	ask := func(path string, form url.Values, label string) {
		req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.AddCookie(&http.Cookie{Name: thirdCookie, Value: "root"})
		w, began := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(w, req)
		assert.Equal(t, http.StatusOK, w.Code, label)
		assert.Less(t, time.Since(began), 5*time.Second, label)
		assert.NotContains(t, w.Body.String(), "legacy.internal", label)
		assert.True(t, json.Valid(w.Body.Bytes()), label)
	}
	for path := range h.calls {
		if path == "/login" || path == "/logout" {
			continue // shared with our own pages, which answer what is no call
		}
		base := url.Values{"id": {strconv.Itoa(j.ID)}, "logId": {strconv.FormatInt(r.ID, 10)}, "jobGroup": {strconv.Itoa(own.ID)}, "offset": {"0"}, "pagesize": {"10"}}
		for what, value := range values {
			all := url.Values{}
			for _, name := range names {
				all.Set(name, value)
			}
			ask(path, all, fmt.Sprint(path, " with all of ", what))
			for _, name := range names {
				if strings.HasSuffix(path, "delete") || strings.HasSuffix(path, "remove") || path == "/joblog/clearLog" {
					continue // would take away what the others ask for
				}
				one := url.Values{}
				for k, v := range base {
					one[k] = v
				}
				one.Set(name, value)
				ask(path, one, fmt.Sprint(path, " ", name, " is ", what))
			}
		}
	}
}
