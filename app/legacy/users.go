package legacy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// userRow is an account, without any secret.
type userRow struct {
	ID         int     `json:"id"`
	Username   string  `json:"username"`
	Password   string  `json:"password"`
	Token      *string `json:"token"`
	Role       int     `json:"role"`
	Permission string  `json:"permission"`
}

func userList(c *call) (any, error) {
	if err := c.admin(); err != nil {
		return nil, err
	}
	users, err := c.h.Service.Users(c.r.Context(), c.actor)
	if err != nil {
		return nil, err
	}
	role, rows := atoi(c.value("role"), -1), []userRow{}
	for _, u := range users {
		if contains(u.Name, c.value("username")) && (role < 0 || int(u.Role) == role) {
			rows = append(rows, userRow{ID: u.ID, Username: u.Name, Role: int(u.Role), Permission: u.Permission})
		}
	}
	slices.SortFunc(rows, func(a, b userRow) int { return strings.Compare(a.Username, b.Username) })
	offset, limit := c.paging()
	return page{cut(rows, offset, limit), len(rows)}, nil
}

// userInput reads role and permission: an administrator, or the executors whose jobs and
// scripts the person may edit. Several values are several executors, and so are commas.
func (c *call) userInput() (jobs.UserInput, error) {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	in := jobs.UserInput{Name: strings.TrimSpace(c.value("username")), Password: strings.TrimSpace(c.value("password")), Groups: map[int]model.Level{}}
	switch role := c.value("role"); role {
	case "", "0":
	case "1":
		in.Role = model.LevelAdminister
		return in, nil
	default:
		bad.AddField("role", "field.unknown_value", "Value", role)
	}
	for _, text := range strings.FieldsFunc(strings.Join(c.r.Form["permission"], ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		id, err := strconv.ParseInt(text, 10, 32)
		if err != nil || id <= 0 {
			bad.AddField("groups", "field.unknown_value", "Value", text)
			continue
		}
		in.Groups[int(id)], in.Scripts = model.LevelEdit, true
	}
	return in, problems(bad)
}

func userAdd(c *call) (any, error) {
	if err := c.admin(); err != nil {
		return nil, err
	}
	in, err := c.userInput()
	if err != nil {
		return nil, err
	}
	if in.Password == "" { // none is made up: nobody would see it
		bad := model.Errf(model.CodeInvalid, "error.invalid")
		bad.AddField("password", "field.required")
		return nil, bad
	}
	_, _, err = c.h.Service.AddUser(c.r.Context(), c.actor, in)
	return nil, err
}

// userUpdate changes role and executors of somebody else, and the password when there is
// one. Rights that these calls have no word for are not changed by accident.
func userUpdate(c *call) (any, error) {
	id, err := c.shortID()
	if err != nil {
		return nil, err
	}
	ctx := c.r.Context()
	old, err := c.h.Service.Account(ctx, c.actor, id)
	if err != nil {
		return nil, err
	}
	in, err := c.userInput()
	if err != nil {
		return nil, err
	}
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	switch {
	case id == c.actor.UserID:
		return nil, model.Errf(model.CodeInvalid, "error.own_account")
	case in.Name != "" && in.Name != old.Name:
		bad.AddField("name", "field.fixed", "Value", old.Name)
	case in.Password != "":
		jobs.CheckPassword(bad, "password", in.Password)
	}
	if err := problems(bad); err != nil {
		return nil, err
	}
	is := jobs.UserInputOf(&old)
	password := in.Password
	in.Name, in.Password, in.Seen, in.Disabled, in.Language, in.Theme, in.StartPage = "", "", is.Seen, is.Disabled, is.Language, is.Theme, is.StartPage
	if same := int(old.Role) == atoi(c.value("role"), 0) && sameGroups(old.Permission, in.Groups); !same {
		if old.Rights != "" {
			return nil, model.Errf(model.CodeInvalid, "legacy.finer_rights", "Name", old.Name)
		}
		if err := c.h.Service.UpdateUser(ctx, c.actor, id, in); err != nil {
			return nil, err
		}
	}
	if password != "" {
		_, err = c.h.Service.ResetPasswordOf(ctx, c.actor, id, password)
	}
	return nil, err
}

// sameGroups reports whether the column of a user names these executors.
func sameGroups(permission string, groups map[int]model.Level) bool {
	had := model.ParseRights(permission, "").Groups
	if len(had) != len(groups) {
		return false
	}
	for id := range had {
		if _, ok := groups[id]; !ok {
			return false
		}
	}
	return true
}

func userDelete(c *call) (any, error) { return c.withJob(c.h.Service.DeleteUser) }

// ownPassword changes the password of who asks, which ends all their sessions.
func ownPassword(c *call) (any, error) {
	old, password := c.value("oldPassword"), strings.TrimSpace(c.value("password"))
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if old == "" {
		bad.AddField("old", "field.required")
	}
	if err := problems(bad); err != nil {
		return nil, err
	}
	_, err := c.h.Service.ChangePassword(c.r.Context(), c.actor.UserID, old, password, c.actor.From)
	return nil, err
}
