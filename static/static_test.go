package static

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func get(t *testing.T, f *Files, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Result()
}

func TestFilesAreServedUnderHashedNames(t *testing.T) {
	f, err := New()
	require.NoError(t, err)
	for _, name := range []string{"app.css", "live.js", "htmx.min.js", "tabler.min.css", "icons.svg"} {
		url := f.URL(name)
		assert.Regexp(t, regexp.MustCompile(`^/static/.+\.[0-9a-f]{12}\.(css|js|svg)$`), url)
		res := get(t, f, "/below/a/base"+url)
		assert.Equal(t, http.StatusOK, res.StatusCode, name)
		assert.Contains(t, res.Header.Get("Cache-Control"), "immutable")
		assert.Equal(t, http.StatusNotModified, get(t, f, url, "If-None-Match", res.Header.Get("ETag")).StatusCode)
	}
	assert.Equal(t, http.StatusNotFound, get(t, f, "/static/app.css").StatusCode, "plain names are not served")
	assert.Equal(t, http.StatusNotFound, get(t, f, f.URL("no.css")).StatusCode)
}

func TestHashFollowsContent(t *testing.T) {
	one, err := newFrom(fstest.MapFS{"a.css": {Data: []byte("a{}")}})
	require.NoError(t, err)
	two, err := newFrom(fstest.MapFS{"a.css": {Data: []byte("b{}")}})
	require.NoError(t, err)
	assert.NotEqual(t, one.URL("a.css"), two.URL("a.css"))
	_, err = newFrom(fstest.MapFS{"x/a.css": {Data: []byte("a{}")}, "y/a.css": {Data: []byte("b{}")}})
	assert.Error(t, err, "names must be unique")
}

func TestGzip(t *testing.T) {
	f, err := newFrom(fstest.MapFS{"a.css": {Data: []byte("a{color:red}")}})
	require.NoError(t, err)
	res := get(t, f, f.URL("a.css"), "Accept-Encoding", "gzip, br")
	require.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
	z, err := gzip.NewReader(res.Body)
	require.NoError(t, err)
	body, err := io.ReadAll(z)
	require.NoError(t, err)
	assert.Equal(t, "a{color:red}", string(body))
}

func TestPostIsRefused(t *testing.T) {
	f, err := New()
	require.NoError(t, err)
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest(http.MethodPost, f.URL("app.css"), nil))
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

// TestNoMarksOfMerges: a style sheet with the marks of a merge is read in parts, and nobody says so.
func TestNoMarksOfMerges(t *testing.T) {
	files, err := filepath.Glob("app/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NotRegexp(t, `(?m)^(<{7} |={7}$|>{7} )`, string(raw), name)
	}
}
