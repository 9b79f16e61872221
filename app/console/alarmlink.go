package console

import (
	"net/http"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// linkPath is where the links of mails lead. Whoever has one needs no login: it is signed,
// works once, and asks before it acts, because mail programs look at what links lead to.
const linkPath = "/link"

func (c *Console) alarmLink(r *request) error {
	l, err := c.svc.AlarmLink(r.Request().Context(), r.QueryParam("do"))
	return c.drawLink(r, l, r.QueryParam("do"), false, err)
}

func (c *Console) alarmLinkFollow(r *request) error {
	l, err := c.svc.FollowAlarmLink(r.Request().Context(), r.FormValue("do"))
	return c.drawLink(r, l, "", true, err)
}

func (c *Console) drawLink(r *request, l jobs.AlarmLink, text string, done bool, err error) error {
	v := views.AlarmLinkView{Page: r.page("", r.loc.T("link.title")), Do: text, Action: l.Action, Who: l.Who, Done: done, IncidentRow: incidentRow(l.Incident)}
	v.Path = c.path(linkPath) // the text of the link stays out of what the page is named by
	status := http.StatusOK
	if err != nil {
		if code := model.CodeOf(err); code != model.CodeNotFound && code != model.CodeConflict {
			return err
		}
		status, v.Problem, v.Done = http.StatusConflict, message(r.loc, err), false
	}
	r.Response().Header().Set("Referrer-Policy", "no-referrer")
	return r.render(status, views.AlarmLinkPage(v))
}
