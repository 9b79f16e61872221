package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/crypto/bcrypt"

	"github.com/carillon-scheduler/carillon/model"
)

// UserInput is an account as an administrator asks for it. Field errors come under the
// names given here as json keys.
type UserInput struct {
	Name     string      `json:"name"`     // of a new account; a name stays
	Password string      `json:"password"` // of a new account; "" = made up
	Role     model.Level `json:"role"`     // for all executors; administer = administrator
	// Groups are the levels for single executors, in addition to the role.
	Groups    map[int]model.Level `json:"groups"`
	Scripts   bool                `json:"scripts"` // may change scripts where jobs may be edited
	Disabled  bool                `json:"disabled"`
	Language  string              `json:"language"`
	Theme     string              `json:"theme"`
	StartPage string              `json:"start_page"`
	Mail      string              `json:"mail"` // for alarms and reports; "" = none
	// Seen names the account that was seen when the edit began (SeenUser); another one now is a conflict.
	Seen string `json:"seen"`
}

// SeenUser names what a form of an account shows.
func SeenUser(u *model.User) string {
	return nameNote(fmt.Sprintf("%d %q %q %t %q %q %q %q", u.Role, u.Permission, u.Rights, u.Disabled, u.Language, u.Theme, u.StartPage, u.Mail))
}

// UserInputOf is a stored account as a form that nobody has changed. Where scripts may be
// changed for some executors only, the form says no, the lesser of the two.
func UserInputOf(u *model.User) UserInput {
	in := UserInput{Seen: SeenUser(u), Groups: map[int]model.Level{}, Name: u.Name, Disabled: u.Disabled, Language: u.Language, Theme: u.Theme, StartPage: u.StartPage, Mail: u.Mail}
	if u.Role == model.RoleAdmin {
		in.Role, in.Scripts = model.LevelAdminister, true
		return in
	}
	r := model.ParseRights(u.Permission, u.Rights)
	in.Role = r.All.Level
	in.Scripts = r.All.Level >= model.LevelEdit || len(r.Groups) > 0
	for id, g := range r.Groups {
		in.Groups[id] = g.Level
	}
	for _, g := range append(slices.Collect(maps.Values(r.Groups)), r.All) {
		if g.Level >= model.LevelEdit && !g.Scripts {
			in.Scripts = false
		}
	}
	return in
}

// Account reads one account; only administrators may.
func (s *Service) Account(ctx context.Context, actor model.Actor, id int) (model.User, error) {
	if !actor.Admin {
		return model.User{}, forbidden()
	}
	u, err := s.store.User(ctx, id)
	if model.CodeOf(err) == model.CodeNotFound {
		err = model.Errf(model.CodeNotFound, "error.not_found")
	}
	return u, err
}

// accountFor reads an account to do something to it, and notes who may not.
func (s *Service) accountFor(ctx context.Context, actor model.Actor, id int, action string) (model.User, error) {
	if !actor.Admin {
		err := forbidden()
		s.note(ctx, actor, action, thing{kind: model.AuditUser, id: int64(id)}, err)
		return model.User{}, err
	}
	return s.Account(ctx, actor, id)
}

// AddUser creates an account; only administrators may. It returns the id, and the
// password when it made one up, so that it can be shown once. The console asks the person
// for an own one at the first login.
func (s *Service) AddUser(ctx context.Context, actor model.Actor, in UserInput) (id int, madeUp string, err error) {
	if !actor.Admin {
		err := forbidden()
		s.note(ctx, actor, "user.add", thing{kind: model.AuditUser, name: in.Name}, err)
		return 0, "", err
	}
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	u := model.User{Name: strings.TrimSpace(in.Name)}
	line(bad, "name", u.Name, longestName, true)
	if strings.ContainsFunc(u.Name, unicode.IsSpace) {
		bad.AddField("name", "field.user_name")
	}
	all, err := s.store.Users(ctx)
	if err != nil {
		return 0, "", err
	}
	taken := func() { bad.AddField("name", "error.user_taken", "Name", u.Name) }
	if slices.ContainsFunc(all, func(o model.User) bool { return strings.EqualFold(o.Name, u.Name) }) {
		taken()
	}
	if in.Password == "" {
		in.Password = NewPassword()
		madeUp = in.Password
	}
	checkPassword(bad, "password", in.Password)
	in.Disabled = false
	if err := s.fillUser(ctx, &u, in, bad); err != nil {
		return 0, "", err
	}
	if len(bad.Fields) > 0 {
		return 0, "", bad
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(in.Password), bcrypt.DefaultCost)
	if err != nil {
		return 0, "", err
	}
	u.PasswordHash, u.MustChange = string(hash), true
	u.ID, err = s.store.InsertUser(ctx, &u)
	if model.CodeOf(err) == model.CodeConflict { // the database takes more names for equal
		taken()
		return 0, "", bad
	}
	if err != nil {
		return 0, "", err
	}
	s.log.Info("user added", "user_id", u.ID, "name", u.Name, "user", actor.Name)
	s.note(ctx, actor, "user.add", userThing(&u), nil, s.userChanges(ctx, &model.User{}, &u)...)
	return u.ID, madeUp, nil
}

// UpdateUser changes role, rights and preferences of an account, and disables or enables
// it. The last administrator who can log in stays one, and nobody disables their own account. What
// somebody else changed since the form was opened is a conflict.
func (s *Service) UpdateUser(ctx context.Context, actor model.Actor, id int, in UserInput) error {
	old, err := s.accountFor(ctx, actor, id, "user.edit")
	if err != nil {
		return err
	}
	if in.Seen != SeenUser(&old) {
		return model.Errf(model.CodeConflict, "error.conflict")
	}
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	u := old
	if err := s.fillUser(ctx, &u, in, bad); err != nil {
		return err
	}
	if in.Disabled && id == actor.UserID {
		bad.AddField("disabled", "error.own_account")
	}
	if len(bad.Fields) > 0 {
		return bad
	}
	err = s.store.UpdateUser(ctx, &u)
	if isLastAdmin(err) {
		field := "role"
		if in.Disabled {
			field = "disabled"
		}
		bad.AddField(field, "error.last_admin")
		return bad
	}
	if err != nil {
		return err
	}
	action := "user.edit"
	switch {
	case u.Disabled && !old.Disabled:
		action = "user.disable"
	case old.Disabled && !u.Disabled:
		action = "user.enable"
	}
	s.log.Info("user changed", "user_id", id, "name", u.Name, "user", actor.Name)
	s.note(ctx, actor, action, userThing(&u), nil, s.userChanges(ctx, &old, &u)...)
	return nil
}

func isLastAdmin(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Key == "error.last_admin"
}

// fillUser puts what may be chosen into an account, or says field by field what is wrong.
func (s *Service) fillUser(ctx context.Context, u *model.User, in UserInput, bad *model.Error) error {
	if in.Role < model.LevelNone || in.Role > model.LevelAdminister {
		bad.AddField("role", "field.unknown_value", "Value", int(in.Role))
	}
	in.Mail = strings.TrimSpace(in.Mail)
	checkProfile(bad, model.Profile{Language: in.Language, Theme: in.Theme, StartPage: in.StartPage, Mail: in.Mail})
	u.Language, u.Theme, u.StartPage, u.Mail, u.Disabled = in.Language, in.Theme, in.StartPage, in.Mail, in.Disabled
	u.Role = model.RoleUser
	if in.Role == model.LevelAdminister {
		u.Role, u.Permission, u.Rights = model.RoleAdmin, "", ""
		return nil
	}
	r := model.Rights{All: model.Grant{Level: in.Role, Scripts: in.Scripts && in.Role >= model.LevelEdit}, Groups: map[int]model.Grant{}}
	groups, err := s.store.Groups(ctx, nil)
	if err != nil {
		return err
	}
	for id, level := range in.Groups {
		if level == model.LevelNone {
			continue
		}
		if level < 0 || level > model.LevelAdminister || !slices.ContainsFunc(groups, func(g model.Group) bool { return g.ID == id }) {
			bad.AddField("groups", "field.unknown_value", "Value", id)
			continue
		}
		r.Groups[id] = model.Grant{Level: level, Scripts: in.Scripts && level >= model.LevelEdit}
	}
	u.Permission, u.Rights = r.Columns()
	return nil
}

func checkProfile(bad *model.Error, p model.Profile) {
	known(bad, "language", p.Language, slices.Contains([]string{"", "zh-Hans", "zh-Hant", "en"}, p.Language))
	known(bad, "theme", p.Theme, slices.Contains([]string{"", "light", "dark"}, p.Theme))
	known(bad, "start_page", p.StartPage, slices.Contains(model.StartPages(), p.StartPage))
	known(bad, "zone", p.Zone, p.Zone == "" || IsZone(p.Zone))
	if p.Mail != "" {
		checkMails(bad, "mail", []string{p.Mail})
	}
}

// IsZone reports whether a name is that of a time zone, by IANA.
func IsZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local" && len(name) <= 64
}

// userChanges lists what an edit of an account changes; executors by their names.
func (s *Service) userChanges(ctx context.Context, old, new *model.User) []model.Change {
	groups, err := s.store.Groups(ctx, nil)
	if err != nil { // then by their numbers
		s.log.Warn("executors of an account cannot be named for the audit", "error", err)
	}
	apps := map[int]string{}
	for _, g := range groups {
		apps[g.ID] = g.AppName
	}
	var out []model.Change
	add := func(field, was, is string) {
		if was != is {
			out = append(out, model.Change{Field: field, Old: was, New: is})
		}
	}
	add("role", roleText(old), roleText(new))
	add("groups", rightsText(old, apps), rightsText(new, apps))
	add("disabled", fmt.Sprint(old.Disabled), fmt.Sprint(new.Disabled))
	add("language", old.Language, new.Language)
	add("theme", old.Theme, new.Theme)
	add("start_page", old.StartPage, new.StartPage)
	add("mail", old.Mail, new.Mail)
	return out
}

func roleText(u *model.User) string {
	switch {
	case u.ID == 0 && u.Name == "":
		return ""
	case u.Role == model.RoleAdmin:
		return "administrator"
	}
	return "user"
}

func rightsText(u *model.User, apps map[int]string) string {
	r := model.ParseRights(u.Permission, u.Rights)
	var out []string
	add := func(where string, g model.Grant) {
		text := where + ": " + g.Level.String()
		if g.Scripts {
			text += ", scripts"
		}
		out = append(out, text)
	}
	if r.All.Level > model.LevelNone {
		add("*", r.All)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Groups)) {
		name := apps[id]
		if name == "" {
			name = itoa(id)
		}
		add(name, r.Groups[id])
	}
	return strings.Join(out, "; ")
}

// DeleteUser removes an account; nobody removes their own, or the last administrator.
func (s *Service) DeleteUser(ctx context.Context, actor model.Actor, id int) error {
	u, err := s.accountFor(ctx, actor, id, "user.delete")
	if err != nil {
		return err
	}
	if id == actor.UserID {
		return model.Errf(model.CodeInvalid, "error.own_account")
	}
	if err := s.store.DeleteUser(ctx, id); err != nil {
		return err
	}
	s.log.Info("user deleted", "user_id", id, "name", u.Name, "user", actor.Name)
	s.note(ctx, actor, "user.delete", userThing(&u), nil)
	return nil
}

// ResetPasswordOf gives another account a new password, which ends its sessions; "" makes one
// up. It returns the password that it made up.
func (s *Service) ResetPasswordOf(ctx context.Context, actor model.Actor, id int, password string) (madeUp string, err error) {
	u, err := s.accountFor(ctx, actor, id, "password.reset")
	if err != nil {
		return "", err
	}
	if id == actor.UserID { // ChangePassword asks for the old one
		return "", model.Errf(model.CodeInvalid, "error.own_account")
	}
	if password == "" {
		password = NewPassword()
		madeUp = password
	}
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if checkPassword(bad, "password", password); len(bad.Fields) > 0 {
		return "", bad
	}
	if _, err := s.setPassword(ctx, id, password, false); err != nil {
		return "", err
	}
	s.log.Info("password reset", "user_id", id, "name", u.Name, "user", actor.Name)
	s.note(ctx, actor, "password.reset", userThing(&u), nil)
	return madeUp, nil
}

// SetProfile stores what people choose for themselves: language and theme ("" = automatic)
// the page on which they begin ("" = the dashboard), the zone of the times they read, and the
// address for their mails, which are written in that language and zone.
func (s *Service) SetProfile(ctx context.Context, userID int, p model.Profile) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	p.Mail = strings.TrimSpace(p.Mail)
	checkProfile(bad, p)
	if len(bad.Fields) > 0 {
		return bad
	}
	return s.store.SetProfile(ctx, userID, p)
}

// UserSessions lists the logins of a person: the own ones, or for administrators those of
// anybody; 0 stands for everybody.
func (s *Service) UserSessions(ctx context.Context, actor model.Actor, userID int) ([]model.Session, error) {
	if !actor.Admin && (userID == 0 || userID != actor.UserID) {
		return nil, forbidden()
	}
	return s.store.UserSessions(ctx, userID)
}

// EndSession ends one login of a person.
func (s *Service) EndSession(ctx context.Context, actor model.Actor, userID int, id string) error {
	what := thing{kind: model.AuditSession, id: int64(userID)}
	if userID == 0 || !actor.Admin && userID != actor.UserID {
		err := forbidden()
		s.note(ctx, actor, "session.end", what, err)
		return err
	}
	u, err := s.store.User(ctx, userID)
	if err != nil {
		return err
	}
	ended, err := s.store.EndSession(ctx, userID, id)
	if err != nil || !ended { // over already is as good
		return err
	}
	what.name = u.Name
	s.note(ctx, actor, "session.end", what, nil)
	return nil
}
