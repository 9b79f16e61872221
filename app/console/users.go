package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func (c *Console) userList(r *request) error {
	rows, err := c.svc.Users(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v := views.Users{Page: r.page("users", r.loc.T("users.title")), Rows: rows}
	if v.Groups, err = c.allGroups(r); err != nil {
		return err
	}
	return r.render(http.StatusOK, views.UsersPage(v))
}

// allGroups gives the executors that the person sees.
func (c *Console) allGroups(r *request) ([]model.Group, error) {
	page, err := c.svc.Executors(r.Request().Context(), r.actor())
	groups := make([]model.Group, 0, len(page.Rows))
	for _, g := range page.Rows {
		groups = append(groups, g.Group)
	}
	return groups, err
}

func (c *Console) userNew(r *request) error {
	return c.drawUser(r, http.StatusOK, views.UserForm{Values: map[string]string{}})
}

func (c *Console) userEdit(r *request) error {
	u, err := c.pathUser(r)
	if err != nil {
		return err
	}
	in := jobs.UserInputOf(&u)
	v := views.UserForm{ID: u.ID, Levels: in.Groups, Values: map[string]string{
		"seen": in.Seen, "name": u.Name, "role": in.Role.String(), "language": in.Language, "theme": in.Theme, "start_page": in.StartPage, "mail": in.Mail,
	}}
	if in.Scripts {
		v.Values["scripts"] = "1"
	}
	if in.Disabled {
		v.Values["disabled"] = "1"
	}
	return c.drawUser(r, http.StatusOK, v)
}

func (c *Console) pathUser(r *request) (model.User, error) {
	id, err := r.jobID()
	if err != nil {
		return model.User{}, err
	}
	return c.svc.Account(r.Request().Context(), r.actor(), id)
}

func (c *Console) drawUser(r *request, status int, v views.UserForm) error {
	title := r.loc.T("users.add")
	if v.ID > 0 {
		title = r.loc.T("users.edit", "Name", v.Values["name"])
	}
	v.Page = r.page("users", title)
	v.Own = v.ID == r.user.ID
	var err error
	if v.Groups, err = c.allGroups(r); err != nil {
		return err
	}
	return r.render(status, views.UserFormPage(v))
}

// bindUser reads the form of an account.
func bindUser(r *request) (jobs.UserInput, views.UserForm) {
	v := views.UserForm{Values: map[string]string{}, Levels: map[int]model.Level{}}
	for _, name := range []string{"seen", "name", "role", "scripts", "disabled", "language", "theme", "start_page", "mail"} {
		v.Values[name] = r.FormValue(name)
	}
	for _, text := range r.Request().Form["g"] {
		id, err := strconv.Atoi(text)
		if err != nil || id <= 0 {
			id = -1 // the use case says that there is no such executor
		}
		chosen := r.FormValue("level_" + text)
		level := model.ParseLevel(chosen)
		switch {
		case chosen == "":
			level = model.LevelEdit
		case chosen != level.String():
			level = -1 // more by mistake is worse than an error
		}
		v.Levels[id] = level
	}
	in := jobs.UserInput{
		Name: strings.TrimSpace(v.Values["name"]), Password: r.FormValue("password"), Role: model.ParseLevel(v.Values["role"]), Groups: v.Levels,
		Seen: v.Values["seen"], Scripts: v.Values["scripts"] != "", Disabled: v.Values["disabled"] != "",
		Language: v.Values["language"], Theme: v.Values["theme"], StartPage: v.Values["start_page"], Mail: v.Values["mail"],
	}
	if v.Values["role"] != in.Role.String() {
		in.Role = -1
	}
	return in, v
}

func (c *Console) userAdd(r *request) error {
	in, v := bindUser(r)
	if r.FormValue("resume") != "" {
		return c.drawUser(r, http.StatusOK, v)
	}
	id, madeUp, err := c.svc.AddUser(r.Request().Context(), r.actor(), in)
	if model.CodeOf(err) == model.CodeInvalid {
		return c.userAgain(r, v, err)
	}
	if err != nil {
		return err
	}
	if madeUp == "" {
		return r.leave(c.path("/users"), r.loc.T("users.added", "Name", in.Name))
	}
	// Shown in this answer only: it is kept nowhere.
	return r.render(http.StatusOK, views.NewPasswordPage(views.NewPassword{
		Page: r.page("users", r.loc.T("users.add")), ID: id, Name: in.Name, Password: madeUp, Added: true,
	}))
}

func (c *Console) userUpdate(r *request) error {
	u, err := c.pathUser(r)
	if err != nil {
		return err
	}
	in, v := bindUser(r)
	v.ID, v.Values["name"] = u.ID, u.Name
	if r.FormValue("resume") != "" {
		return c.drawUser(r, http.StatusOK, v)
	}
	err = c.svc.UpdateUser(r.Request().Context(), r.actor(), u.ID, in)
	switch model.CodeOf(err) {
	case model.CodeConflict:
		v.Conflict = true
		fallthrough
	case model.CodeInvalid:
		return c.userAgain(r, v, err)
	}
	if err != nil {
		return err
	}
	to := c.path("/users")
	if u.ID == r.user.ID && in.Role != model.LevelAdminister { // the person is no administrator any more
		to = c.path("/")
	}
	return r.leave(to, r.loc.T("users.saved", "Name", u.Name))
}

func (c *Console) userAgain(r *request, v views.UserForm, err error) error {
	v.Errors, v.Message = fieldMessages(r.loc, err), r.loc.T("form.errors")
	if len(v.Errors) == 0 {
		v.Message = message(r.loc, err)
	}
	if v.Conflict {
		v.Message = r.loc.T("users.conflict")
	}
	return c.drawUser(r, statusOf(err), v)
}

func (c *Console) userDeleteForm(r *request) error {
	u, err := c.pathUser(r)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Page: r.page("users", r.loc.T("users.delete_title")), Heading: r.loc.T("users.delete_title"),
		Text: r.loc.T("users.delete_text", "Name", u.Name), Button: r.loc.T("action.delete"),
		Action: c.path("/users/" + strconv.Itoa(u.ID) + "/delete"), Cancel: c.path("/users"),
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

func (c *Console) userDelete(r *request) error {
	u, err := c.pathUser(r)
	if err != nil {
		return err
	}
	if err := c.svc.DeleteUser(r.Request().Context(), r.actor(), u.ID); err != nil {
		return err
	}
	return r.leave(c.path("/users"), r.loc.T("users.deleted", "Name", u.Name))
}

func (c *Console) userPasswordForm(r *request) error {
	u, err := c.pathUser(r)
	if err != nil {
		return err
	}
	if u.ID == r.user.ID {
		return r.Redirect(http.StatusSeeOther, c.path("/password"))
	}
	return c.drawUserPassword(r, http.StatusOK, views.NewPassword{ID: u.ID, Name: u.Name})
}

func (c *Console) drawUserPassword(r *request, status int, v views.NewPassword) error {
	v.Page = r.page("users", r.loc.T("users.reset"))
	return r.render(status, views.NewPasswordPage(v))
}

func (c *Console) userPassword(r *request) error {
	u, err := c.pathUser(r)
	if err != nil {
		return err
	}
	v := views.NewPassword{ID: u.ID, Name: u.Name}
	v.Password, err = c.svc.ResetPasswordOf(r.Request().Context(), r.actor(), u.ID, r.FormValue("password"))
	if model.CodeOf(err) == model.CodeInvalid {
		if v.Error = fieldMessages(r.loc, err)["password"]; v.Error == "" {
			v.Error = message(r.loc, err)
		}
		return c.drawUserPassword(r, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	if v.Password == "" {
		return r.leave(c.path("/users"), r.loc.T("users.reset_done", "Name", u.Name))
	}
	return c.drawUserPassword(r, http.StatusOK, v)
}
