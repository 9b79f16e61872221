package console

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// reportMails lists the reports that go out by mail.
func (c *Console) reportMails(r *request) error {
	return c.drawReportMails(r, http.StatusOK, views.ReportMails{})
}

func (c *Console) drawReportMails(r *request, status int, v views.ReportMails) error {
	var err error
	if v.List, err = c.svc.ReportMails(r.Request().Context(), r.actor()); err != nil {
		return err
	}
	v.Page, v.MailSet = r.page("reports", r.loc.T("report.mails.title")), c.opt.MailSet
	return r.render(status, views.ReportMailsPage(v))
}

func (c *Console) reportMailNew(r *request) error {
	return c.drawReportMail(r, http.StatusOK, views.ReportMailForm{Values: map[string]string{"kind": "day", "at": "08:00", "weekday": "1", "month_day": "1"}})
}

func (c *Console) drawReportMail(r *request, status int, v views.ReportMailForm) error {
	title := "report.mails.add"
	if v.ID > 0 {
		title = "report.mails.edit"
	}
	v.Page = r.page("reports", r.loc.T(title))
	set, err := c.svc.AlarmSettings(r.Request().Context(), r.actor()) // has the executors
	if err != nil {
		return err
	}
	v.Groups, v.People = set.Groups, set.People
	return r.render(status, views.ReportMailFormPage(v))
}

func (c *Console) reportMailEdit(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	m, err := c.svc.ReportMail(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	v := views.ReportMailForm{ID: id, Values: map[string]string{
		"name": m.Name, "kind": m.Kind, "at": m.At, "weekday": shownNumber(max(1, m.Weekday)), "month_day": shownNumber(max(1, m.MonthDay)), "zone": m.Zone, "language": m.Language,
		"to": strings.Join(m.To, "\n"), "executor": shownNumber(m.GroupID), "owner": m.Owner, "tag": m.Tag,
	}}
	for name, is := range map[string]bool{"only_trouble": m.OnlyTrouble, "off": m.Off} {
		if is {
			v.Values[name] = "1"
		}
	}
	return c.drawReportMail(r, http.StatusOK, v)
}

// reportMailSave binds the form, saves, and draws it again when something is wrong.
func (c *Console) reportMailSave(r *request) error {
	f := r.readForm("name", "kind", "at", "weekday", "month_day", "zone", "language", "to", "executor", "owner", "tag", "only_trouble", "off")
	v := views.ReportMailForm{Values: f.Values, Errors: f.Errors}
	if r.Param("id") != "" {
		var err error
		if v.ID, err = r.jobID(); err != nil {
			return err
		}
	}
	m := model.ReportMail{ID: v.ID, Name: v.Values["name"], ReportMailSettings: model.ReportMailSettings{
		Kind: v.Values["kind"], At: v.Values["at"], Weekday: f.number("weekday"), MonthDay: f.number("month_day"), Zone: v.Values["zone"], Language: v.Values["language"],
		To: addresses(v.Values["to"]), GroupID: f.number("executor"), Owner: v.Values["owner"], Tag: v.Values["tag"], OnlyTrouble: f.set("only_trouble"), Off: f.set("off"),
	}}
	if len(v.Errors) == 0 {
		err := c.svc.SaveReportMail(r.Request().Context(), r.actor(), m)
		if model.CodeOf(err) != model.CodeInvalid {
			if err != nil {
				return err
			}
			return r.leave(c.path("/reports/mails"), r.loc.T("report.mails.saved"))
		}
		v.Errors = fieldMessages(r.loc, err)
	}
	return c.drawReportMail(r, http.StatusUnprocessableEntity, v)
}

func (c *Console) reportMailDeleteForm(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	m, err := c.svc.ReportMail(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Page: r.page("reports", r.loc.T("report.mails.delete")), Heading: r.loc.T("report.mails.delete"), Text: r.loc.T("report.mails.delete_text", "Name", m.Name), Button: r.loc.T("action.delete"),
		Action: c.path("/reports/mails/" + strconv.Itoa(id) + "/delete"), Cancel: c.path("/reports/mails"),
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

func (c *Console) reportMailDelete(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	if err := c.svc.DeleteReportMail(r.Request().Context(), r.actor(), id); err != nil {
		return err
	}
	return r.leave(c.path("/reports/mails"), r.loc.T("report.mails.deleted"))
}

// reportMailSend sends the report to one address at once and shows the server's own answer.
func (c *Console) reportMailSend(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	v := views.ReportMails{SentID: id, Address: r.FormValue("address")}
	answer, err := c.svc.SendReport(r.Request().Context(), r.actor(), id, v.Address)
	switch model.CodeOf(err) {
	case model.CodeInvalid:
		v.Error = fieldMessages(r.loc, err)["address"]
	case model.CodeUnavailable:
		v.Refused = message(r.loc, err)
	default:
		if err != nil {
			return err
		}
		v.Answer = answer
		return c.drawReportMails(r, http.StatusOK, v)
	}
	return c.drawReportMails(r, http.StatusUnprocessableEntity, v)
}

// mailPolicy lets a mail be shown as mail programs show it: styles in its elements, its
// picture with it, and nothing else.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-popups allow-top-navigation-by-user-activation"

// reportMailPreview shows the mail as it would go out now.
func (c *Console) reportMailPreview(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	_, html, picture, err := c.svc.PreviewReport(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	html = strings.Replace(html, "cid:trend@carillon", "data:image/png;base64,"+base64.StdEncoding.EncodeToString(picture), 1)
	r.Response().Header().Set("Content-Security-Policy", mailPolicy)
	return r.HTML(http.StatusOK, html)
}
