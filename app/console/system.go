package console

import (
	"net/http"

	"github.com/carillon-scheduler/carillon/views"
)

// system shows how the center does.
func (c *Console) system(r *request) error {
	sys, err := c.svc.System(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v := views.System{Page: r.page("system", r.loc.T("system.title")), System: sys}
	return r.pageOr(http.StatusOK, views.SystemPage(v), views.SystemPanel(v))
}
