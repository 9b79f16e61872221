package console

import (
	"net/http"
	"strings"

	"github.com/carillon-scheduler/carillon/views"
)

// palette finds jobs, runs, executors, users, pages and actions. It is a page of its own,
// and the content of the dialog that Ctrl-K opens.
func (c *Console) palette(r *request) error {
	text := searchText(r.QueryParam("q"))
	v := views.Palette{Page: r.page("", r.loc.T("palette.title")), Text: text}
	found, err := c.svc.Search(r.Request().Context(), r.actor(), text)
	if err != nil {
		return err
	}
	v.Find(found.Marked, found.Jobs, found.Run, found.Executors, found.Users)
	switch {
	case !r.htmx():
		return r.render(http.StatusOK, views.PalettePage(v))
	case strings.HasPrefix(r.Request().Header.Get("HX-Target"), "palette-list"):
		return r.render(http.StatusOK, views.PaletteList(v))
	}
	return r.render(http.StatusOK, views.PaletteFragment(v))
}
