package console

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func (f *fake) JobNote(ctx context.Context, a model.Actor, id int) (jobs.JobNote, error) {
	_, err := f.Job(ctx, a, id)
	return jobs.JobNote{Text: f.notes[id], Seen: "seen"}, err
}

func (f *fake) SetJobNote(_ context.Context, _ model.Actor, id int, text, seen string) error {
	return f.note("note %d %s %s", id, text, seen)
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"**Call** Mei\n\n1. look\n2. [runbook](https://wiki.example/x)": "<p><strong>Call</strong> Mei</p>\n<ol>\n<li>look</li>\n<li><a href=\"https://wiki.example/x\" rel=\"noreferrer\">runbook</a></li>\n</ol>\n",
		"<script>alert(1)</script> a":                                   "<!-- raw",
		"[x](javascript:alert(1))":                                      "<p>x</p>\n",
		"![p](https://evil.example/pixel.png)":                          "<p></p>\n",
		"`a<b`":                                                         "<p><code>a&lt;b</code></p>\n",
		"| a |\n|---|\n| 1 |":                                           "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table>\n",
	} {
		got, err := markdown(in)
		assert.NoError(t, err)
		if strings.HasPrefix(want, "<!--") {
			assert.NotContains(t, got, "script")
			continue
		}
		assert.Equal(t, want, got)
	}
}

// TestMarkdownReadElsewhere: in a mail links lead where they lead in the console, which may be
// below a path.
func TestMarkdownReadElsewhere(t *testing.T) {
	for link, want := range map[string]string{
		"/wiki/ledger": "https://c.example/wiki/ledger", "13": "https://c.example/base/jobs/13", "../runs?job=12": "https://c.example/base/runs?job=12", "#a": "https://c.example/base/jobs/12#a",
		"//wiki.example/x": "https://wiki.example/x", "http://wiki.example/x": "http://wiki.example/x", "mailto:a@example.org": "mailto:a@example.org", "tel:4711": "tel:4711", "javascript:alert(1)": "",
		"data:text/html,x": "",
	} {
		got, err := Markdown("[x]("+link+") and [y][1]\n\n[1]: "+link+"\n", "https://c.example/base/jobs/12")
		assert.NoError(t, err)
		if a := `<a href="` + want + `" rel="noreferrer">`; want == "" {
			assert.Equal(t, "<p>x and y</p>\n", got, link)
		} else {
			assert.Equal(t, "<p>"+a+"x</a> and "+a+"y</a></p>\n", got, link)
		}
	}
}

func TestJobNote(t *testing.T) {
	s := newSite(t).login("olga")
	assert.Contains(t, testid(s.doc(s.get("/jobs/1039")), "job-note").Text(), "Nothing is noted yet")
	s.fake.notes = map[int]string{1039: "Call **Mei** <img src=x onerror=alert(1)>"}
	d := s.doc(s.get("/jobs/1039"))
	assert.Equal(t, "Mei", testid(d, "job-note").Find("strong").Text())
	assert.Zero(t, testid(d, "job-note").Find("img").Length())

	d = s.doc(s.get("/jobs/1039/note"))
	assert.Contains(t, d.Find("#note").Text(), "<img src=x")
	res := s.post("/jobs/1039/note", "note", "new text", "seen", "seen")
	assert.Equal(t, "/jobs/1039", res.Header.Get("Location"))
	assert.Equal(t, []string{"note 1039 new text seen"}, s.fake.calls)

	s.fake.err = model.Errf(model.CodeConflict, "error.conflict")
	res = s.post("/jobs/1039/note", "note", "mine", "seen", "old")
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	d = s.doc(res)
	assert.Equal(t, "mine", d.Find("#note").Text(), "nothing that was typed is lost")
	assert.Contains(t, testid(d, "note-conflict").Text(), "Call **Mei**")
	assert.Equal(t, "seen", d.Find(`input[name="seen"]`).AttrOr("value", ""), "the next save is about what is shown")

	bad := model.Errf(model.CodeInvalid, "error.invalid")
	bad.AddField("note", "field.too_long", "Max", 20000)
	s.fake.err = bad
	d = s.doc(s.post("/jobs/1039/note", "note", "long", "seen", "seen"))
	assert.Equal(t, 1, testid(d, "error-note").Length())
	assert.Equal(t, http.StatusNotFound, s.get("/jobs/1031/note").StatusCode)
	assert.Equal(t, http.StatusNotFound, s.post("/jobs/1031/note", "note", "x").StatusCode, "a job of another executor")
}
