package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carillon-scheduler/carillon/store/storetest"
)

// queryNames are what pages read from their address.
func queryNames() []string {
	return []string{
		"executor", "job", "status", "q", "tag", "fav", "page", "size", "sort", "preset", "from", "to", "reason", "fires", "before", "after",
		"trigger", "address", "all", "user", "object", "action", "outcome", "by", "span", "kind", "list", "copy", "restore", "run", "part", "next",
		"group", "schedule_type", "schedule_conf", "seconds", "zone", "app_name", "line", "offset", "since",
	}
}

// TestAddressesOfAllKinds asks every page with parameters that make no sense: none fails, and
// none takes long, whatever number it is asked for.
func TestAddressesOfAllKinds(t *testing.T) {
	t.Parallel()
	const slow = 5 * time.Second // of a page that takes milliseconds; the machine may be busy
	w := newTown(t)
	j := storetest.Job(t, w.st, w.own.ID, nil)
	for range 20 {
		storetest.Run(t, w.st, j, nil)
	}
	ask := func(who, path, label string) {
		began := time.Now()
		res := w.as(who, http.MethodGet, path, "")
		took := time.Since(began)
		assert.Contains(t, []int{200, 204, 303, 400, 403, 404, 409, 422}, res.StatusCode, label)
		assert.Less(t, took, slow, label)
		assert.NotContains(t, text(t, res), "<script>alert", label)
	}
	values := map[string]string{
		"garbage": "x'\"><script>alert(1)</script>", "huge": "9223372036854775807", "beyond": "9223372036854775808", "far beyond": strings.Repeat("9", 400),
		"negative": "-9223372036854775808", "no UTF-8": "a\xff\xfe", "NUL": "a\x00b", "long": strings.Repeat("w", 100_000), "empty": "", "float": "1e308",
		"a range": "1-9223372036854775807", "the last day": "9999-12-31T23:59:59", "the first day": "0001-01-01T00:00:00", "wild": strings.Repeat("%_", 60),
		"fires never": "0 0 0 31 2 ? 2099", "every": "* * * * * ?",
	}
	lists := []string{"/jobs", "/jobs/export", "/runs", "/runs/export", "/runs/clear", "/timeline", "/timeline/load", "/reports", "/reports/csv", "/reports/xlsx", "/audit", "/audit/export", "/search", "/executors", "/users", "/filters", "/jobs/preview", "/jobs/pick", "/jobs/handlers", "/jobs/new"}
	for _, r := range w.c.table() {
		if r.method != http.MethodGet || r.path == logStreamPath {
			continue
		}
		id, _ := w.make(rules()[r.method+" "+r.path].object, w.own)
		path := strings.NewReplacer(":id", id, "*", "nothing-here").Replace(r.path)
		for v, name := range slices.Sorted(maps.Keys(values)) {
			value, all := values[name], url.Values{}
			for _, q := range queryNames() {
				all.Set(q, value)
			}
			ask("root", path+"?"+all.Encode(), fmt.Sprint(r.path, " with all of ", name))
			if slices.Contains(lists, r.path) && !strings.HasPrefix(name, "far") {
				for i, q := range queryNames() {
					if (i+v)%4 != 0 { // each name has some values, each value some names: all of them take minutes
						continue
					}
					one := url.Values{q: {value}, "preset": {"custom"}, "schedule_type": {"CRON"}, "span": {"day"}}
					one.Set(q, value)
					ask("root", path+"?"+one.Encode(), fmt.Sprint(r.path, " ", q, " is ", name))
				}
			}
		}
		ask("viewer", path+"?"+strings.Repeat("executor=1&q=a&page=2&", 3000), r.path+" with repeated keys")
		ask("viewer", path+"?%zz=%&;;=&q=%ff%", r.path+" with a broken query")
		if strings.Contains(r.path, ":id") {
			for _, id := range []string{"0", "-1", "9223372036854775807", "9223372036854775808", "1e3", "%00", "%ff", "%2e%2e", strings.Repeat("1", 5000)} {
				res := w.as("root", http.MethodGet, strings.Replace(r.path, ":id", id, 1), "")
				assert.Equal(t, http.StatusNotFound, res.StatusCode, "%s of %s", r.path, id)
			}
		}
	}
	// A filter that was kept, and work that was carried, come back from a browser.
	for name, value := range values {
		for _, form := range []url.Values{
			{"list": {"runs"}, "name": {"kept " + name[:3]}, "query": {"job=" + url.QueryEscape(value) + "&from=" + url.QueryEscape(value)}},
			{"list": {"jobs"}, "name": {"kept " + name[:3]}, "query": {value}},
		} {
			res := w.as("root", http.MethodPost, "/filters", form.Encode())
			assert.Contains(t, []int{303, 422}, res.StatusCode, name)
		}
		for _, path := range []string{"/jobs/batch", "/runs/batch"} {
			for _, form := range []url.Values{
				{"do": {"stop"}, "all": {"1"}, "filter": {"page=" + value}}, {"do": {"retry"}, "ids": {value}}, {"work": {value}},
				{"work": {`{"do":"stop","parts":[{"ids":"1-9223372036854775807"}]}`}}, {"work": {`{"do":"retry","total":-5,"parts":[{"ids":""},{"ids":"5-1"}]}`}},
				{"work": {strings.Repeat(`{"parts":[`, 20_000)}},
				{"work": {`{"do":"stop","changed":9223372036854775807,"total":9223372036854775807,"failed":-9223372036854775808,"parts":[{"ids":"1"}]}`}},
			} {
				began := time.Now()
				res := w.as("root", http.MethodPost, path, form.Encode())
				assert.Contains(t, []int{200, 422}, res.StatusCode, "%s %v", path, form)
				assert.Less(t, time.Since(began), slow)
			}
		}
	}
}
