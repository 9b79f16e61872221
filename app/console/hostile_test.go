package console

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile is a bad value. What is nice must be stored as typed by fields that are free.
type hostile struct {
	name, value string
	nice        bool
}

func hostileValues(f field) []hostile {
	out := []hostile{
		{"empty", "", false}, {"blanks", "  \t ", false}, {"long", strings.Repeat("z", 70_000), false},
		{"a script", `"'><script>alert(1)</script>`, true}, {"right to left", "שלום עולם مرحبا abc", true}, {"a turned direction", "a\u202eb", false}, {"emoji", "🔔 run 👩‍👩‍👧 ok", true},
		{"a control character", "a\x01b", false}, {"NUL", "a\x00b", false}, {"invalid UTF-8", "a\xff\xfeb", false}, {"cut UTF-8", "a\xe4\xbd", false},
		{"a formula", "=1+1", true},
	}
	if f.max > 0 && f.kind != secret {
		out = append(out, hostile{"just too long", strings.Repeat("y", f.max+1), false})
		if f.max < 5000 {
			out = append(out, hostile{"just fits", strings.Repeat("界", f.max), f.kind == free}, hostile{"one too many", strings.Repeat("界", f.max+1), false})
		}
	}
	if f.kind != free && f.kind != strict && f.kind != secret {
		for _, s := range []string{"-1", "0", "1.5", "1e3", "٣", "2147483648", "9223372036854775807", "9223372036854775808", "99999999999999999999999"} {
			out = append(out, hostile{"number " + s, s, false})
		}
	}
	return out
}

// controls gives what a form of a page holds, as a browser would send it.
func controls(d *goquery.Document, action string) (url.Values, bool) {
	form := d.Find(`form[action="` + action + `"][method="post"]`)
	out := url.Values{}
	form.Find("input[name], textarea[name], select[name]").Each(func(_ int, s *goquery.Selection) {
		name, _ := s.Attr("name")
		value, _ := s.Attr("value")
		if owner, ok := s.Attr("form"); ok && owner != "" {
			return
		}
		switch kind, _ := s.Attr("type"); {
		case goquery.NodeName(s) == "textarea":
			value = strings.TrimPrefix(s.Text(), "\n")
		case goquery.NodeName(s) == "select":
			chosen := s.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = s.Find("option").First()
			}
			value, _ = chosen.Attr("value")
		case kind == "checkbox" || kind == "radio":
			if _, ok := s.Attr("checked"); !ok {
				if !out.Has(name) {
					out[name] = nil
				}
				return
			}
		case kind == "file":
			return
		}
		out.Add(name, value)
	})
	return out, form.Length() > 0
}

func (f typed) field(name string) (field, bool) {
	if strings.HasPrefix(name, "level_") {
		name = "level_*"
	}
	out, ok := f.fields[name]
	return out, ok
}

// sweep is one form with its town.
type sweep struct {
	*town
	db      *database
	f       typed
	pattern string
	id      string
	n       int
}

func newSweep(t *testing.T, pattern string, f typed) *sweep {
	w := newTown(t)
	return &sweep{town: w, db: openDatabase(t, w.file), f: f, pattern: pattern}
}

// fresh gives a form that would be taken, about an object that nobody has touched.
func (s *sweep) fresh(who string) (path string, form url.Values) {
	if s.id == "" {
		s.id, _ = s.make(s.f.object, s.own)
	}
	put := func(text string) string {
		return strings.NewReplacer(":id", s.id, "OWN", strconv.Itoa(s.own.ID), "NEW", strconv.Itoa(s.n)).Replace(text)
	}
	path, form = put(s.pattern), url.Values{}
	if s.f.page != "" {
		drawn := who
		if strings.HasPrefix(s.pattern, "/login") {
			drawn = "nobody"
		}
		res := s.as(drawn, http.MethodGet, put(s.f.page), "")
		require.Equal(s.t, http.StatusOK, res.StatusCode)
		var ok bool
		form, ok = controls(s.doc(res), path)
		require.True(s.t, ok, "%s has no form to %s", s.f.page, path)
		for name := range form {
			_, known := s.f.field(name)
			assert.True(s.t, known, "%s: the field %s is not in typedForms", s.pattern, name)
		}
	}
	extra, err := url.ParseQuery(put(s.f.form))
	require.NoError(s.t, err)
	for name, values := range extra {
		form[name] = values
	}
	if strings.HasPrefix(s.pattern, "/executors/:id/") && s.f.fields["address"] != (field{}) {
		form.Set("address", s.own.AddressList)
	}
	return path, form
}

var (
	han      = regexp.MustCompile(`\p{Han}`)
	speakers = []string{"root", "root-hans", "root-hant"}
)

// try sends one value and looks what came of it.
func (s *sweep) try(name string, f field, h hostile) {
	s.n++
	who := speakers[s.n%len(speakers)]
	path, form := s.fresh(who)
	with, err := url.ParseQuery(strings.ReplaceAll(f.with, "OWN", strconv.Itoa(s.own.ID)))
	require.NoError(s.t, err)
	for k, v := range with {
		form[k] = v
	}
	form[name] = []string{h.value}
	if s.pattern == "/profile" { // which changes it
		s.as(who, http.MethodPost, "/preferences", "lang="+map[string]string{"root": "en", "root-hans": "zh-Hans", "root-hant": "zh-Hant"}[who])
	}
	if s.f.setup != "" {
		to, form, _ := strings.Cut(s.f.setup, "?")
		s.as(who, http.MethodPost, to, form)
	}
	label := fmt.Sprintf("%s: %s is %s, as %s", s.pattern, name, h.name, who)
	_, before := s.db.cells()
	res := s.as(who, http.MethodPost, path, form.Encode())
	body := text(s.t, res)
	cells, after := s.db.cells()
	if !assert.Contains(s.t, []int{200, 204, 303, 400, 401, 403, 404, 409, 413, 422, 429}, res.StatusCode, label) {
		return
	}
	assert.NotContains(s.t, body, "<script>alert", label)
	if f.kind == secret && len(strings.TrimSpace(h.value)) > 3 {
		assert.NotContains(s.t, body, "alert(1)", label)
	}
	if res.StatusCode >= 400 {
		assert.Equal(s.t, before, after, "%s: refused and done nevertheless", label)
	}
	if before != after {
		s.id = "" // the next one is about another object
	}
	d, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	require.NoError(s.t, err)
	if f.kind == meant && strings.TrimSpace(h.value) != "" && h.name != "number 0" {
		assert.Equal(s.t, before, after, "%s: makes no sense and was done", label)
	}
	if f.kind == beside || f.kind == secret || f.kind == meant {
		return
	}
	empty := strings.TrimSpace(h.value) == ""
	bad := !empty && ((strings.Contains(h.value, "\x00") || strings.Contains(h.value, "\x01") && !f.code) || !strings.Contains(h.name, "fits") && f.max > 0 && len([]rune(h.value)) > f.max || strings.Contains(h.name, "UTF-8")) || empty && f.must
	switch {
	case res.StatusCode == http.StatusRequestEntityTooLarge:
		assert.Greater(s.t, len(h.value), 1<<20, label)
		return
	case res.StatusCode < 400:
		assert.False(s.t, bad, "%s: was taken", label)
		if (f.kind == number || f.kind == choice) && !empty {
			assert.Contains(s.t, cells, strings.TrimSpace(h.value), "%s: was taken and is not what is stored", label)
		}
		if f.kind == free || f.kind == strict {
			assert.True(s.t, empty || contains(cells, blank(h.value)), "%s: was taken and is not what is stored", label)
		}
		return
	}
	assert.Contains(s.t, []int{http.StatusUnprocessableEntity, http.StatusConflict}, res.StatusCode, label)
	if f.kind == free && h.nice {
		assert.Fail(s.t, "refused", "%s: %s", label, d.Find("[data-testid^=error-]").Text())
	}
	at := name
	if f.at != "" {
		at = f.at
	}
	said := strings.TrimSpace(testid(d, "error-"+at).Text())
	if said == "" && at == "name" {
		said = strings.TrimSpace(testid(d, "filter-error").First().Text())
	}
	if assert.NotEmpty(s.t, said, "%s: no message at the field (%s)", label, strings.TrimSpace(d.Find("[role=alert], .invalid-feedback").Text())) {
		words := strings.ReplaceAll(said, strings.TrimSpace(h.value), "")
		if short := []rune(said); len(short) > 2000 {
			assert.Fail(s.t, "the message is as long as what was typed", label)
		}
		if h.value == "" || !han.MatchString(h.value) {
			assert.Equal(s.t, who != "root", han.MatchString(words), "%s: in which language is %q", label, words)
		}
	}
	if f.kind == choice {
		return // what cannot be chosen cannot be shown as chosen
	}
	found := false
	d.Find(`[name="` + name + `"]`).Each(func(_ int, c *goquery.Selection) {
		value, _ := c.Attr("value")
		if goquery.NodeName(c) == "textarea" {
			value = strings.TrimPrefix(c.Text(), "\n")
		}
		found = found || blank(value) == blank(h.value)
	})
	assert.True(s.t, found || name == "address", "%s: what was typed is lost", label)
}

func contains(cells []string, value string) bool {
	return slices.ContainsFunc(cells, func(c string) bool { return strings.Contains(blank(c), value) })
}

// TestEveryFormEveryValue sends bad values in every field of every form.
func TestEveryFormEveryValue(t *testing.T) {
	t.Parallel()
	known, c := typedForms(), newSite(t).c
	for _, r := range c.table() {
		key := r.method + " " + r.path
		if r.method != http.MethodPost {
			continue
		}
		f, ok := known[key]
		if !assert.True(t, ok, "%s: say in typedForms() what its fields are", key) {
			continue
		}
		delete(known, key)
		t.Run(strings.ReplaceAll(r.path, "/", " "), func(t *testing.T) {
			t.Parallel()
			s := newSweep(t, r.path, f)
			for _, name := range sortedKeys(f.fields) {
				fd := f.fields[name]
				if name == "level_*" {
					name = "level_" + strconv.Itoa(s.own.ID)
				}
				for _, h := range hostileValues(fd) {
					s.try(name, fd, h)
				}
			}
		})
	}
	assert.Empty(t, known, "forms of routes that are no more")
}
