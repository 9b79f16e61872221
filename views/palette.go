package views

import (
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// Palette is the way to everything by typing.
type Palette struct {
	Page
	Text  string
	Parts []PalettePart
}

// PalettePart is one kind of what was found.
type PalettePart struct {
	Key, Title string
	Items      []PaletteItem
}

// PaletteItem leads somewhere.
type PaletteItem struct{ Icon, Label, Sub, URL string }

// Find lays out what was found, and the pages and actions whose names have the text.
func (v *Palette) Find(marked, jobs []model.Job, run *model.Run, executors []model.Group, users []model.User) {
	add := func(key string, items []PaletteItem) {
		if len(items) > 0 {
			v.Parts = append(v.Parts, PalettePart{key, v.T("palette." + key), items})
		}
	}
	var items []PaletteItem
	for _, j := range marked {
		items = append(items, PaletteItem{"star", j.Name, itoa(j.ID) + " · " + j.Handler, v.URL("/jobs/" + itoa(j.ID))})
	}
	add("favourites", items)
	items = nil
	if run != nil {
		items = append(items, PaletteItem{"list-details", v.T("run.title", "ID", run.ID), jobLabel(v.Page, *run), v.URL("/runs/" + id64(run.ID))})
	}
	add("runs", items)
	items = nil
	for _, j := range jobs {
		items = append(items, PaletteItem{"clock-play", j.Name, itoa(j.ID) + " · " + j.Handler, v.URL("/jobs/" + itoa(j.ID))})
	}
	add("jobs", items)
	items = nil
	for _, g := range executors {
		items = append(items, PaletteItem{"server", g.Title, g.AppName, v.URL("/jobs", "executor", itoa(g.ID))})
	}
	add("executors", items)
	items = nil
	for _, u := range users {
		items = append(items, PaletteItem{"users", u.Name, v.T("role." + roleKey(u.Role)), v.URL("/users") + "#user-" + itoa(u.ID)})
	}
	add("users", items)
	items = nil
	for _, p := range v.places() {
		if strings.Contains(strings.ToLower(p.Label), strings.ToLower(v.Text)) {
			items = append(items, p)
		}
	}
	add("pages", items)
	if v.Text != "" && len(v.Text) > 1 {
		add("more", []PaletteItem{
			{"search", v.T("palette.jobs_like", "Text", v.Text), "", v.URL("/jobs", "q", v.Text)},
			{"search", v.T("palette.runs_like", "Text", v.Text), "", v.URL("/runs", "q", v.Text)},
		})
	}
}

func roleKey(r model.Role) string {
	if r == model.RoleAdmin {
		return "admin"
	}
	return "user"
}

// places are the pages of the menu and what people do most.
func (v *Palette) places() (out []PaletteItem) {
	for _, e := range v.navEntries() {
		out = append(out, PaletteItem{e.icon, v.T("nav." + e.key), "", v.URL(e.path)})
	}
	if v.Actor.MaySomewhere(model.LevelEdit) {
		out = append(out, PaletteItem{"plus", v.T("jobs.add"), "", v.URL("/jobs/new")})
	}
	if v.Admin {
		out = append(out, PaletteItem{"trash", v.T("retention.title"), "", v.URL("/retention")})
	}
	return append(out,
		PaletteItem{"clock-play", v.T("palette.failing"), "", v.URL("/jobs", "status", "failing")},
		PaletteItem{"list-details", v.T("palette.failed_today"), "", v.URL("/runs", "status", "failed", "preset", "today")},
		PaletteItem{"history", v.T("timeline.title"), "", v.URL("/timeline")},
		PaletteItem{"history", v.T("dash.load"), "", v.URL("/timeline/load")},
		PaletteItem{"list-details", v.T("palette.running"), "", v.URL("/runs", "status", "open")},
		PaletteItem{"users", v.T("profile.title"), "", v.URL("/profile")},
		PaletteItem{"history", v.T("palette.zone"), "", v.URL("/profile") + "#zone"},
		PaletteItem{"language", v.T("palette.language"), "", v.URL("/profile") + "#language"},
		PaletteItem{"key", v.T("top.password"), "", v.URL("/password")},
	)
}
