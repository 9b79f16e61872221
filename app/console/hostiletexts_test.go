package console

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestHugeForms: what is larger than a form can be is refused with a page that says so.
func TestHugeForms(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	for key, f := range typedForms() {
		if len(f.fields) == 0 {
			continue
		}
		id, look := w.make(f.object, w.own)
		before := look()
		path := strings.Replace(strings.TrimPrefix(key, "POST "), ":id", id, 1)
		for _, who := range speakers {
			res := w.as(who, http.MethodPost, path, sortedKeys(f.fields)[0]+"="+strings.Repeat("x", 14<<20))
			assert.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode, key)
			assert.Equal(t, who != "root", han.MatchString(w.doc(res).Find("main").Text()), key)
			assert.Equal(t, before, look(), key)
		}
	}
}

// TestTypedTextsSurviveTheLogin: a login that ended while somebody typed costs nothing.
func TestTypedTextsSurviveTheLogin(t *testing.T) {
	t.Parallel()
	const text = "typed for minutes: <b> & \"quotes\" 界🔔"
	for key, f := range typedForms() {
		pattern := strings.TrimPrefix(key, "POST ")
		t.Run(strings.ReplaceAll(pattern, "/", " "), func(t *testing.T) {
			t.Parallel()
			s := newSweep(t, pattern, f)
			path, form := s.fresh("root")
			var filled []string
			for name, fd := range f.fields {
				if (fd.kind == free || fd.kind == strict) && fd.with == "" && name != "address" {
					form.Set(name, text)
					filled = append(filled, name)
				}
			}
			form.Del("once")
			_, before := s.db.cells()
			for _, htmx := range []string{"", "true"} {
				if strings.HasPrefix(path, "/login") || path == "/preferences" || path == "/logout" || path == linkPath {
					return // nobody need be logged in
				}
				s.cookie = map[string]string{}
				res := s.do(http.MethodPost, path, form, "HX-Request", htmx)
				if !f.kept {
					assert.Contains(t, []int{303, 401}, res.StatusCode)
					assert.Contains(t, res.Header.Get("Location")+res.Header.Get("HX-Redirect"), "/login")
					continue
				}
				d := s.doc(res)
				login, ok := controls(d, "/login/kept")
				require.True(t, ok, "%d: the login page carries nothing", res.StatusCode)
				assert.NotContains(t, login.Get("kept_form"), "password")
				login.Set("name", "root")
				login.Set("password", "wrong")
				login, ok = controls(s.doc(s.do(http.MethodPost, "/login/kept", login)), "/login/kept")
				require.True(t, ok, "a wrong password loses it")
				login.Set("name", "root")
				login.Set("password", password)
				back, ok := controls(s.doc(s.do(http.MethodPost, "/login/kept", login)), path)
				require.True(t, ok, "the login does not lead back")
				res = s.do(http.MethodPost, path, back)
				require.Equal(t, http.StatusOK, res.StatusCode)
				again, ok := controls(s.doc(res), path)
				require.True(t, ok, "the form is not there")
				for _, name := range filled {
					assert.Equal(t, text, again.Get(name), name)
				}
			}
			_, after := s.db.cells()
			assert.Equal(t, before, after, "nothing is saved by it")
		})
	}
}

// TestSentTwice: an impatient double click does it once, and leads to the same page.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"/jobs", "/jobs/:id/run"} {
		s := newSweep(t, key, typedForms()["POST "+key])
		path, form := s.fresh("root")
		require.NotEmpty(t, form.Get("once"), key)
		form.Set("name", "")
		if key == "/jobs" { // a refused one may be sent again
			assert.Equal(t, http.StatusUnprocessableEntity, s.as("root", http.MethodPost, path, form.Encode()).StatusCode)
		}
		form.Set("name", "twice")
		first := s.as("root", http.MethodPost, path, form.Encode())
		assert.Equal(t, http.StatusSeeOther, first.StatusCode, key)
		_, before := s.db.cells()
		for _, again := range []*http.Response{s.as("root", http.MethodPost, path, form.Encode()), s.do(http.MethodPost, path, form, "HX-Request", "true")} {
			assert.Equal(t, first.Header.Get("Location"), again.Header.Get("Location")+again.Header.Get("HX-Redirect"), key)
		}
		_, after := s.db.cells()
		assert.Equal(t, before, after, key)
		// Another person's form of the same name is theirs.
		other := s.as("root-hans", http.MethodPost, path, form.Encode())
		assert.NotEqual(t, first.Header.Get("Location"), other.Header.Get("Location"), key)
	}
}

// TestSentTwiceAtOnce: the second click comes while the first is worked on.
func TestSentTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := newSweep(t, "/jobs", typedForms()["POST /jobs"])
	path, form := s.fresh("root")
	form.Set("name", "at once")
	var all sync.WaitGroup
	led := make([]string, 8)
	for i := range led {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for name, value := range s.sessions["root"] {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		all.Go(func() {
			w := httptest.NewRecorder()
			s.c.ServeHTTP(w, r)
			led[i] = w.Result().Header.Get("Location")
		})
	}
	all.Wait()
	assert.Len(t, slices.Compact(led), 1, led)
	assert.NotEmpty(t, led[0])
	list, _, err := s.st.Jobs(t.Context(), model.JobFilter{Text: "at once", Limit: 10})
	require.NoError(t, err)
	assert.Len(t, list, 1)
}
