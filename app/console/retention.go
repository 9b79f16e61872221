package console

import (
	"net/http"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// retention shows for how long runs are kept and what was removed.
func (c *Console) retention(r *request) error {
	return c.drawRetention(r, http.StatusOK, views.Retention{})
}

func (c *Console) drawRetention(r *request, status int, v views.Retention) error {
	p, err := c.svc.Retention(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v.Page = r.page("system", r.loc.T("retention.title"))
	v.State, v.Default, v.Keep, v.Own, v.Days, v.Oldest = p.State, p.Default, p.Keep, p.Own, p.Days, p.Oldest
	for _, j := range p.Jobs {
		v.Jobs = append(v.Jobs, views.KeepingJob{ID: j.ID, Name: j.Name, Keep: j.Keep})
	}
	if v.Values == nil {
		v.Values = map[string]string{"keep_days": p.State.Own.Succeeded.String(), "keep_failed_days": p.State.Own.Failed.String()}
	}
	if status != http.StatusOK || v.Ask != nil {
		return r.render(status, views.RetentionPage(v))
	}
	return r.pageOr(status, views.RetentionPage(v), views.RetentionPanel(v))
}

// retentionSave sets the days. When runs would go that stay so far, it asks first; the
// answer counts for these days only.
func (c *Console) retentionSave(r *request) error {
	v := views.Retention{Values: map[string]string{}, Errors: map[string]string{}}
	days := func(name string) model.KeepDays {
		v.Values[name] = r.FormValue(name)
		k, ok := model.ParseKeepDays(v.Values[name])
		if !ok {
			v.Errors[name] = r.loc.T("field.number")
		}
		return k
	}
	own := model.Keep{Succeeded: days("keep_days"), Failed: days("keep_failed_days")}
	if len(v.Errors) == 0 {
		err := c.saveDays(r, own, &v)
		if err == nil && v.Ask == nil {
			return r.leave(c.path("/retention"), r.loc.T("retention.saved"))
		}
		if err == nil {
			return c.drawRetention(r, http.StatusOK, v)
		}
		if model.CodeOf(err) != model.CodeInvalid {
			return err
		}
		v.Errors = fieldMessages(r.loc, err)
	}
	return c.drawRetention(r, http.StatusUnprocessableEntity, v)
}

func (c *Console) saveDays(r *request, own model.Keep, v *views.Retention) error {
	ctx, sure := r.Request().Context(), views.RetentionSure(own)
	if r.FormValue("sure") != sure {
		loss, err := c.svc.CountRetention(ctx, r.actor(), own)
		if err != nil {
			return err
		}
		if loss.Runs > 0 {
			v.Ask = &views.RetentionAsk{Runs: loss.Runs, Until: loss.Until, Sure: sure}
			return nil
		}
	}
	return c.svc.SaveRetention(ctx, r.actor(), own)
}

// retentionRunForm asks whether a pass is to begin now.
func (c *Console) retentionRunForm(r *request) error {
	v := views.Confirm{
		Page: r.page("system", r.loc.T("retention.run")), Heading: r.loc.T("retention.run"), Text: r.loc.T("retention.run_text"), Button: r.loc.T("retention.run"),
		Action: c.path("/retention/run"), Cancel: c.path("/retention"),
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

func (c *Console) retentionRun(r *request) error {
	if err := c.svc.StartRetention(r.Request().Context(), r.actor()); err != nil {
		return err
	}
	return r.leave(c.path("/retention"), r.loc.T("retention.run_done"))
}
