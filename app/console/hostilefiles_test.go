package console

import (
	"bytes"
	"encoding/csv"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// upload sends a file to the import.
func (w *town) upload(who, file string, fields ...string) *http.Response {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	part, err := m.CreateFormFile("file", "jobs.yaml")
	require.NoError(w.t, err)
	_, err = part.Write([]byte(file))
	require.NoError(w.t, err)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(w.t, m.WriteField(fields[i], fields[i+1]))
	}
	require.NoError(w.t, m.Close())
	r := httptest.NewRequest(http.MethodPost, importPath, &b)
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for name, value := range w.sessions[who] {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	w.c.ServeHTTP(rec, r)
	return rec.Result()
}

// TestHostileFiles: what is wrong with an uploaded file is said with its line and in the
// person's language, and nothing of the file is taken. jobfile.TestBadFiles has more kinds.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	db := openDatabase(t, w.file)
	const job = "carillon: 1\njobs:\n  - executor: own-app\n    name: a\n    author: a\n    handler: h\n"
	_, before := db.cells()
	for name, tc := range map[string]struct{ file, has string }{
		"unknown key":  {job + "    handlers: x\n", "7"},
		"job twice":    {job + "  - executor: own-app\n    name: a\n", "7"},
		"50 MB":        {job + strings.Repeat("#", 50<<20), "10"},
		"anchors":      {"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\njobs: *c\n", "1"},
		"nested":       {strings.Repeat("[", 5<<20), ""},
		"GBK":          {job + "    tags: \xd6\xd0\xce\xc4\n", "7"},
		"UTF-16":       {"\xff\xfej\x00o\x00", ""},
		"NUL":          {job + "    tags: a\x00b\n", "7"},
		"empty":        {"", ""},
		"a script":     {"<script>alert(1)</script>", ""},
		"a ZIP":        {"PK\x03\x04" + strings.Repeat("\x00\xff", 1000), ""},
		"no such time": {job + "    timeout: 99999999999999999999\n", "7"},
	} {
		for _, who := range speakers {
			for _, do := range []string{"plan", "apply"} {
				res := w.upload(who, tc.file, "do", do, "digest", "x", "executors", "1=own-app")
				label := name + " " + who
				assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, label)
				d := w.doc(res)
				said := testid(d, "import-error").Text()
				assert.Contains(t, said, tc.has, label)
				assert.Equal(t, who != "root", han.MatchString(said), "%s: %s", label, said)
				assert.Zero(t, d.Find("main script, .card script").Length(), label)
			}
		}
	}
	assert.Equal(t, http.StatusRequestEntityTooLarge, w.upload("root", strings.Repeat("#", maxUpload)).StatusCode)
	// A file that can be read, with jobs that cannot be: said job by job, none is taken.
	for _, line := range []string{
		"author: " + strings.Repeat("x", 65), "schedule: 61 * * * * ?", "route: NOWHERE", "executor: foreign-app", "alarm_email: nobody", "block: x", "timeout: -1",
		"tags: [" + strings.Repeat("x", 100) + "]", "param: " + strings.Repeat("x", 70_000), "retry: 2147483648",
	} {
		key, _, _ := strings.Cut(line, ":")
		var kept []string
		for _, l := range strings.Split(job, "\n") {
			if !strings.HasPrefix(strings.TrimLeft(l, " -"), key+":") {
				kept = append(kept, l)
			} else if strings.Contains(l, "- ") {
				kept, line = append(kept, "  - "+line), ""
			}
		}
		file := strings.Join(kept[:len(kept)-1], "\n") + "\n"
		if line != "" {
			file += "    " + line + "\n"
		}
		for _, do := range []string{"plan", "apply"} {
			res := w.upload("manager", file, "do", do, "digest", "x")
			assert.Contains(t, []int{200, 409, 422}, res.StatusCode, line)
			assert.NotContains(t, text(t, res), foreignName)
		}
	}
	_, after := db.cells()
	assert.Equal(t, before, after)
}

// TestTablesHaveNoFormulas: no cell of a table is taken for a formula by a spreadsheet.
func TestTablesHaveNoFormulas(t *testing.T) {
	w := newTown(t)
	for i, name := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "=cmd|' /C calc'!A0", `"=1"`} {
		j := storetest.Job(t, w.st, w.own.ID, func(j *model.Job) { j.Name, j.Handler = name, name })
		storetest.Run(t, w.st, j, func(r *model.Run) { r.Param, r.Handler = name, name })
		w.as("root", http.MethodPost, "/jobs/"+strconv.Itoa(j.ID)+"/start", "")
		_, err := w.st.InsertUser(t.Context(), &model.User{Name: name + strconv.Itoa(i), PasswordHash: "x"})
		require.NoError(t, err)
		require.NoError(t, w.st.DeleteJob(t.Context(), j.ID, w.c.svc.Now()))
	}
	for _, path := range []string{"/runs/export", "/users/export", "/audit/export"} {
		body := strings.TrimPrefix(text(t, w.as("root", http.MethodGet, path, "")), "\xef\xbb\xbf")
		lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		require.NoError(t, err)
		require.Greater(t, len(lines), 5, path)
		defused := 0
		for _, cells := range lines {
			for _, cell := range cells {
				if _, err := strconv.Atoi(cell); err == nil || cell == "" {
					continue
				}
				assert.NotContains(t, "=+-@\t\r\n", cell[:1], "%s: %q", path, cell)
				if strings.HasPrefix(cell, "'=") {
					defused++
				}
			}
		}
		assert.Positive(t, defused, "%s: the names are not there", path)
	}
}
