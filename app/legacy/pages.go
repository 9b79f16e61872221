package legacy

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// page gives the page of ours that shows what one of old did, "" when it is none
// of those. Parameters keep their meaning; what is no number is left out.
func (h *Handler) page(path, asked string, q url.Values) string {
	switch path {
	case "", "/":
		if h.base != known && strings.HasPrefix(asked, known) {
			return "/"
		}
	case "/dashboard", "/index":
		return "/"
	case "/toLogin", "/auth/login":
		return "/login"
	case "/login", "/help": // ours has them too, but not below the context path of old
		if h.base != known && strings.HasPrefix(asked, known+"/") {
			return path
		}
	case "/jobinfo":
		return jobsPage(q)
	case "/jobgroup":
		return "/executors"
	case "/user":
		return "/users"
	case "/jobcode":
		if id := number(q, "jobId"); id > 0 {
			return "/jobs/" + strconv.FormatInt(id, 10) + "/code"
		}
		return "/jobs"
	case "/joblog":
		return runsPage(q)
	case "/joblog/logDetailPage":
		if id := number(q, "id"); id > 0 {
			return "/runs/" + strconv.FormatInt(id, 10)
		}
		return "/runs"
	}
	return ""
}

func number(q url.Values, name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(q.Get(name)), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func jobsPage(q url.Values) string {
	out := url.Values{}
	put(out, "executor", number(q, "jobGroup"))
	switch q.Get("triggerStatus") {
	case "0":
		out.Set("status", "stopped")
	case "1":
		out.Set("status", "running")
	}
	for _, name := range []string{"jobDesc", "name", "executorHandler", "author"} {
		if text := strings.TrimSpace(q.Get(name)); text != "" && out.Get("q") == "" {
			out.Set("q", text)
		}
	}
	if len(out) == 0 {
		out.Set("all", "1") // not the filter of the last visit
	}
	return "/jobs?" + out.Encode()
}

func runsPage(q url.Values) string {
	out := url.Values{}
	put(out, "executor", number(q, "jobGroup"))
	put(out, "job", number(q, "jobId"))
	switch q.Get("logStatus") {
	case "1":
		out.Set("status", string(model.RunsSucceeded))
	case "2":
		out.Set("status", string(model.RunsFailed))
	case "3":
		out.Set("status", string(model.RunsOpen))
	}
	if from, to, ok := period(q.Get("filterTime"), time.UTC); ok {
		out.Set("preset", "custom")
		out.Set("from", from.Format("2006-01-02T15:04:05"))
		out.Set("to", to.Format("2006-01-02T15:04:05"))
	}
	if len(out) == 0 {
		return "/runs"
	}
	return "/runs?" + out.Encode()
}

func put(out url.Values, name string, n int64) {
	if n > 0 && n <= model.MaxID {
		out.Set(name, strconv.FormatInt(n, 10))
	}
}

// period reads "2026-01-02 03:04:05 - 2026-01-03 00:00:00", the last second included:
// the end that is given is the first instant after it.
func period(text string, zone *time.Location) (from, to time.Time, ok bool) {
	a, b, ok := strings.Cut(text, " - ")
	if !ok {
		return from, to, false
	}
	from, err1 := time.ParseInLocation(time.DateTime, strings.TrimSpace(a), zone)
	to, err2 := time.ParseInLocation(time.DateTime, strings.TrimSpace(b), zone)
	return from, to.Add(time.Second), err1 == nil && err2 == nil
}
