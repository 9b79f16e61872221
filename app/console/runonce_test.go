package console

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

func TestRunOnceChoosesAddresses(t *testing.T) {
	s := newSite(t).login("olga")
	d := s.doc(s.get("/jobs/1039/run"))
	assert.Equal(t, "source=ecb&base=EUR", d.Find("#param").Text())
	checked := d.Find(`input[name="where"][checked]`)
	assert.Equal(t, "route", checked.AttrOr("value", ""))
	assert.Contains(t, testid(d, "where").Text(), "By the route of the job: Failover")
	boxes := d.Find(`input[name="address"]`)
	require.Equal(t, 2, boxes.Length())
	_, off := boxes.Eq(1).Attr("disabled")
	assert.True(t, off, "it does not beat")
	assert.Zero(t, d.Find("#where-other").Length(), "only administrators name another address")
	assert.Equal(t, 1, s.doc(s.get("/jobs/1039/run")).Find(`[data-testid="used-params"] button`).Length())

	form := func(kv ...string) url.Values {
		v := url.Values{"param": {"x=1"}}
		for i := 0; i+1 < len(kv); i += 2 {
			v.Add(kv[i], kv[i+1])
		}
		return v
	}
	res := s.do(http.MethodPost, "/jobs/1039/run", form("where", "chosen"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	d = s.doc(res)
	assert.Equal(t, "Choose at least one address.", testid(d, "error-address").Text())
	assert.Equal(t, "chosen", d.Find(`input[name="where"][checked]`).AttrOr("value", ""))
	assert.Equal(t, "x=1", d.Find("#param").Text(), "nothing that was typed is lost")
	assert.Empty(t, s.fake.calls)

	res = s.do(http.MethodPost, "/jobs/1039/run", form("where", "chosen", "address", "http://10.0.4.16:9999/", "address", "http://10.0.4.17:9999/"))
	assert.Equal(t, "/runs/88214999", res.Header.Get("Location"))
	assert.Equal(t, "run 1039 x=1 http://10.0.4.16:9999/,http://10.0.4.17:9999/", s.fake.calls[0])
	s.do(http.MethodPost, "/jobs/1039/run", form("where", "route", "address", "http://10.0.4.16:9999/", "addresses", "http://evil:1/"))
	assert.Equal(t, "run 1039 x=1 ", s.fake.calls[1], "by the route means by the route")
	res = s.do(http.MethodPost, "/jobs/1039/run", form("where", "<b>"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	bad.AddField("addresses", "field.foreign_address", "Value", "http://10.0.4.16:9999/")
	s.fake.err = bad
	d = s.doc(s.do(http.MethodPost, "/jobs/1039/run", form("where", "chosen", "address", "http://10.0.4.16:9999/")))
	assert.Equal(t, 1, testid(d, "error-address").Length(), "a refusal stands at what was chosen")
	_, chosen := d.Find(`input[name="address"]`).Eq(0).Attr("checked")
	assert.True(t, chosen)
}

func TestRunOnceAnotherAddressNeedsAWord(t *testing.T) {
	s := newSite(t).login("admin")
	d := s.doc(s.get("/jobs/1039/run"))
	assert.Contains(t, testid(d, "where").Text(), "access token")
	d = s.doc(s.post("/jobs/1039/run", "param", "x", "where", "other", "addresses", "http://10.9.9.9:1/"))
	assert.Equal(t, 1, testid(d, "error-sure").Length())
	assert.Equal(t, "http://10.9.9.9:1/", d.Find("#addresses").AttrOr("value", ""))
	d = s.doc(s.post("/jobs/1039/run", "param", "x", "where", "other", "addresses", " ", "sure", "1"))
	assert.Equal(t, 1, testid(d, "error-addresses").Length())
	assert.Empty(t, s.fake.calls)
	s.post("/jobs/1039/run", "param", "x", "where", "other", "addresses", "http://10.9.9.9:1/", "sure", "1")
	assert.Equal(t, []string{"run 1039 x http://10.9.9.9:1/"}, s.fake.calls)
}

func TestRunAgainKeepsParameterAndAddress(t *testing.T) {
	s := newSite(t).login("olga")
	for i := range s.fake.runs {
		if s.fake.runs[i].ID == 1039000 {
			s.fake.runs[i].Param = "day=1"
		}
	}
	d := s.doc(s.get("/jobs/1039/run?from=1039000")) // was on the address that beats
	assert.Equal(t, "Run again: run #1039000", d.Find("#dialog-title").Text())
	assert.Equal(t, "day=1", d.Find("#param").Text())
	assert.Equal(t, "chosen", d.Find(`input[name="where"][checked]`).AttrOr("value", ""))
	assert.Equal(t, "http://10.0.4.16:9999/", d.Find(`input[name="address"][checked]`).AttrOr("value", ""))
	d = s.doc(s.get("/jobs/1039/run?from=88214000")) // was on one that is gone
	assert.Contains(t, testid(d, "where-gone").Text(), "http://10.0.0.1:9999/")
	assert.Equal(t, "route", d.Find(`input[name="where"][checked]`).AttrOr("value", ""))

	d = s.doc(s.post("/jobs/1039/run", "param", "typed", "where", "chosen", "address", "http://10.0.4.16:9999/", "use", "1039000"))
	assert.Equal(t, "day=1", d.Find("#param").Text(), "an earlier parameter is put into the form")
	assert.Equal(t, "http://10.0.4.16:9999/", d.Find(`input[name="address"][checked]`).AttrOr("value", ""), "the rest stays")
	assert.Empty(t, s.fake.calls, "and nothing runs yet")
	for _, use := range []string{"1037000", "x", "4711"} {
		assert.Equal(t, http.StatusNotFound, s.post("/jobs/1039/run", "use", use).StatusCode, "a run of another job")
	}
}
