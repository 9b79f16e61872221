package console

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// formMarks remembers in the form what its fields held when it was first drawn, as short
// sums: so that of a conflict is known who changed what.
func formMarks(values map[string]string) string {
	marks := map[string]string{}
	for name, value := range values {
		if name != "version" {
			marks[name] = formMark(value)
		}
	}
	raw, _ := json.Marshal(marks) // plain strings always marshal
	return string(raw)
}

func formMark(value string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(value)))
	return base64.RawStdEncoding.EncodeToString(sum[:6])
}

// showConflict puts what others saved beside what was typed. What only they changed is
// taken over unless the person says otherwise; nothing that was typed is lost. The form
// goes on from their version: saving again is a decision.
func (c *Console) showConflict(r *request, v *views.JobForm) error {
	j, err := c.svc.Job(r.Request().Context(), r.actor(), v.ID)
	if err != nil {
		return err
	}
	groups, err := c.svc.Groups(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v.Conflict, v.Groups, v.Page = true, groups, r.page("jobs", "")
	theirs := formOf(jobs.InputOf(&j))
	was := map[string]string{}
	_ = json.Unmarshal([]byte(v.Was), &was) // spoiled: then nobody knows who changed what
	for _, name := range views.JobFields() {
		mine := v.Values[name]
		if strings.TrimSpace(mine) == strings.TrimSpace(theirs[name]) || name == "glue_type" {
			continue
		}
		d := views.Differing{Name: name, Label: v.FieldLabel(name), Theirs: theirs[name], Mine: mine}
		d.TheirsText, d.MineText = v.Shown(name, d.Theirs), v.Shown(name, d.Mine)
		if d.TakeTheirs = was[name] != "" && was[name] == formMark(mine); d.TakeTheirs {
			v.Values[name] = theirs[name]
		}
		v.Theirs = append(v.Theirs, d)
	}
	v.Values["version"], v.Was = theirs["version"], formMarks(theirs)
	return nil
}

// takeTheirs does what was chosen in a conflict: of these fields the stored value counts.
// It is only asked for the version that the person saw.
func (c *Console) takeTheirs(r *request, id int) error {
	var names []string
	for _, name := range views.JobFields() {
		if r.FormValue("take_"+name) == "theirs" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	j, err := c.svc.Job(r.Request().Context(), r.actor(), id)
	if err != nil || r.FormValue("version") != strconv.FormatInt(j.Version, 10) {
		return err // saved again meanwhile: that is a conflict of its own
	}
	theirs := formOf(jobs.InputOf(&j))
	for _, name := range names {
		r.Request().Form.Set(name, theirs[name])
	}
	return nil
}

// fillSuggestions adds to the form what it offers: handlers, and names for ids.
func (c *Console) fillSuggestions(r *request, v *views.JobForm) error {
	ctx := r.Request().Context()
	group, err := strconv.Atoi(v.Values["group"])
	if err == nil {
		if v.Handlers, err = c.svc.Handlers(ctx, r.actor(), group); err != nil {
			return err
		}
		lacking, err := c.svc.Lacking(ctx, r.actor())
		if err != nil {
			return err
		}
		v.Lacking = lacking[group]
	}
	if v.Tags, err = c.svc.Tags(ctx, r.actor()); err != nil {
		return err
	}
	rel, err := c.svc.JobRelatives(ctx, r.actor(), model.Job{ID: v.ID, ChildIDs: v.Values["child_ids"]})
	if err != nil {
		return err
	}
	v.Children = rel.Children
	if v.ID > 0 {
		v.Parents = rel.Parents
	}
	return nil
}

// jobHandlers suggests handlers when another executor is chosen.
func (c *Console) jobHandlers(r *request) error {
	list, err := c.svc.Handlers(r.Request().Context(), r.actor(), r.queryInt("group"))
	if err != nil {
		return err
	}
	lacking, err := c.svc.Lacking(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	return r.render(http.StatusOK, views.HandlersFragment(views.JobForm{Page: r.page("jobs", ""), Handlers: list, Lacking: lacking[r.queryInt("group")]}))
}

// jobPick finds jobs by name for the children of another.
func (c *Console) jobPick(r *request) error {
	options := r.QueryParams().Has("job") // the suggestions of a field for one job
	text := searchText(r.QueryParam("q"))
	if options {
		text = searchText(r.QueryParam("job"))
	}
	if text == "" {
		return r.HTML(http.StatusOK, "")
	}
	found, err := c.svc.Search(r.Request().Context(), r.actor(), text)
	if err != nil {
		return err
	}
	if options {
		return r.render(http.StatusOK, views.JobOptions(append(found.Marked, found.Jobs...)))
	}
	return r.render(http.StatusOK, views.FoundJobs(r.page("jobs", ""), append(found.Marked, found.Jobs...)))
}
