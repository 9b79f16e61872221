package jobs

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"github.com/carillon-scheduler/carillon/model"
)

// Password rules for new passwords. bcrypt takes 72 bytes at most.
const (
	minPassword = 8
	maxPassword = 72
)

// What cannot be right is refused before any work: the column of the names
// holds 50 characters, and no form of ours sends a longer password.
const (
	longestName  = 50
	longestTyped = 1024
)

// Login checks name and password for somebody at a remote address. Unknown
// names and wrong passwords give the same error after about the same time. A
// hash of a Java admin is verified once and replaced by bcrypt in our side
// table. Too many attempts are model.CodeTooMany with the wait in Args.
func (s *Service) Login(ctx context.Context, name, password, from string) (model.User, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > longestName || !utf8.ValidString(name) || len(password) > longestTyped {
		return model.User{}, wrongLogin()
	}
	u, err := s.login(ctx, name, password, from)
	actor := model.Actor{UserID: u.ID, Name: name, From: from}
	switch model.CodeOf(err) {
	case model.CodeInvalid, model.CodeTooMany, model.CodeForbidden:
		s.write(ctx, actor, "login", thing{kind: model.AuditUser, name: name}, model.AuditRefused, nil)
		return model.User{}, err
	}
	s.note(ctx, actor, "login", userThing(&u), err)
	return u, err
}

func (s *Service) login(ctx context.Context, name, password, from string) (model.User, error) {
	ctx, leave, err := s.enter(ctx, name, from)
	if err != nil {
		return model.User{}, err
	}
	defer leave()
	u, err := s.store.UserByName(ctx, name)
	if err != nil && model.CodeOf(err) != model.CodeNotFound {
		return model.User{}, err
	}
	if u, err = s.verify(ctx, u, name, password, from); err == nil && u.Disabled {
		return model.User{}, model.Errf(model.CodeInvalid, "error.account_disabled")
	}
	return u, err
}

func wrongLogin() error { return model.Errf(model.CodeInvalid, "error.login") }

// enter waits for the turn to check a password. It looks first at what costs
// nothing, so that who has to wait takes no room from others.
func (s *Service) enter(ctx context.Context, name, from string) (context.Context, func(), error) {
	wait, home := s.throttle.early(name, from)
	if wait > 0 {
		return nil, nil, tooMany("error.login_wait", wait)
	}
	ctx, cancel := context.WithTimeout(ctx, longestCheck)
	leave, err := s.gate.enter(ctx, home)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return ctx, func() { leave(); cancel() }, nil
}

// verify checks a password for the account found under the name; the zero User
// stands for none. Databases take names for equal that differ in case, accents
// or invisible characters: such a guess counts for the account, but only its
// own name gets in.
func (s *Service) verify(ctx context.Context, u model.User, name, password, from string) (model.User, error) {
	try, wait := s.throttle.begin(u.ID, name, from)
	if wait > 0 {
		return model.User{}, tooMany("error.login_wait", wait)
	}
	// One comparison with bcrypt on each way, so that time tells nothing.
	hash := u.PasswordHash
	if hash == "" {
		hash = nobodysHash
	}
	right := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
	if u.PasswordHash == "" {
		right = legacyMatches(u.LegacyHash, password)
	}
	if !right || u.Name != name || u.ID == 0 {
		return model.User{}, wrongLogin()
	}
	if u.PasswordHash == "" && len(password) <= maxPassword { // longer ones stay with the old hash
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
		if err == nil {
			err = s.store.UpgradePasswordHash(ctx, u.ID, string(hash))
		}
		if err != nil {
			s.throttle.unused(try)
			return model.User{}, err
		}
	}
	s.throttle.passed(try)
	return u, nil
}

// nobodysHash is a bcrypt hash of random text: comparing with it takes as long
// as with a real one.
const nobodysHash = "$2a$10$7EqJtq98hPqEX7fNZaFWoOHi6LxWC4cVvJ0yXqYHxBxg7lQb6gGCa"

// legacyMatches compares with unsalted MD5 or SHA-256 hex; the length tells
// which (reference: schema.md 8).
func legacyMatches(stored, password string) bool {
	stored = strings.ToLower(stored)
	switch len(stored) {
	case 32:
		sum := md5.Sum([]byte(password))
		return subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(stored)) == 1
	case 64:
		sum := sha256.Sum256([]byte(password))
		return subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(stored)) == 1
	}
	return false
}

// setPassword stores a new password, which ends the sessions of the user. It
// returns the generation of the sessions from now on. One that somebody else chose is to be
// replaced at the next login.
func (s *Service) setPassword(ctx context.Context, userID int, password string, own bool) (int64, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return 0, err
	}
	return s.store.SetPasswordHash(ctx, userID, string(hash), !own)
}

// User reads one user for a session.
func (s *Service) User(ctx context.Context, id int) (model.User, error) { return s.store.User(ctx, id) }

// Users lists all accounts; only administrators may.
func (s *Service) Users(ctx context.Context, actor model.Actor) ([]model.User, error) {
	if !actor.Admin {
		return nil, forbidden()
	}
	return s.store.Users(ctx)
}

// SetPreferences stores language and theme of a user; empty means automatic.
func (s *Service) SetPreferences(ctx context.Context, userID int, language, theme string) error {
	if !slices.Contains([]string{"", "zh-Hans", "zh-Hant", "en"}, language) {
		return model.Errf(model.CodeInvalid, "field.unknown_value", "Value", language)
	}
	if !slices.Contains([]string{"", "light", "dark"}, theme) {
		return model.Errf(model.CodeInvalid, "field.unknown_value", "Value", theme)
	}
	return s.store.SetPreferences(ctx, userID, language, theme)
}

// ChangePassword replaces a user's own password and ends all sessions of the
// user; the one that asked goes on under the generation of the user returned.
// Guesses of the old password count like those at the login.
func (s *Service) ChangePassword(ctx context.Context, userID int, old, new, from string) (model.User, error) {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if checkPassword(bad, "new", new); len(bad.Fields) > 0 {
		return model.User{}, bad
	}
	if len(old) > longestTyped {
		bad.AddField("old", "field.wrong_password")
		return model.User{}, bad
	}
	u, err := s.store.User(ctx, userID)
	if err != nil {
		return model.User{}, err
	}
	if u.MustChange && new == old {
		bad.AddField("new", "field.password_same")
		return model.User{}, bad
	}
	actor := model.Actor{UserID: u.ID, Name: u.Name, From: from}
	err = s.changePassword(ctx, &u, old, new, from)
	switch model.CodeOf(err) {
	case model.CodeInvalid, model.CodeTooMany:
		s.write(ctx, actor, "password.change", userThing(&u), model.AuditRefused, nil)
	default:
		s.note(ctx, actor, "password.change", userThing(&u), err)
	}
	return u, err
}

func (s *Service) changePassword(ctx context.Context, u *model.User, old, new, from string) error {
	ctx, leave, err := s.enter(ctx, u.Name, from)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := s.verify(ctx, *u, u.Name, old, from); model.CodeOf(err) == model.CodeInvalid {
		bad := model.Errf(model.CodeInvalid, "error.invalid")
		bad.AddField("old", "field.wrong_password")
		return bad
	} else if err != nil {
		return err
	}
	u.SessionGeneration, err = s.setPassword(ctx, u.ID, new, true)
	u.MustChange = u.MustChange && err != nil
	return err
}

// CheckPassword says in bad what a new password lacks.
func CheckPassword(bad *model.Error, field, password string) { checkPassword(bad, field, password) }

func checkPassword(bad *model.Error, field, password string) {
	if utf8.RuneCountInString(password) < minPassword || len(password) > maxPassword {
		bad.AddField(field, "field.password", "Min", minPassword, "Max", maxPassword)
	}
}

// EnsureAdmin creates the first administrator when there is no user at all. It
// returns the password when it made one up, so that it can be shown once; that one is to be
// replaced at the first login.
func (s *Service) EnsureAdmin(ctx context.Context, password string) (madeUp string, err error) {
	users, err := s.store.Users(ctx)
	if err != nil || len(users) > 0 {
		return "", err
	}
	if password == "" {
		password = NewPassword()
		madeUp = password
	}
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if checkPassword(bad, "password", password); len(bad.Fields) > 0 {
		return "", bad
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return "", err
	}
	_, err = s.store.InsertUser(ctx, &model.User{Name: "admin", Role: model.RoleAdmin, PasswordHash: string(hash), MustChange: madeUp != ""})
	if model.CodeOf(err) == model.CodeConflict {
		return "", nil // another node was faster
	}
	return madeUp, err
}

// ResetPassword gives a user a new random password and returns it. All
// sessions of the user end, and the console asks for an own one at the next login.
func (s *Service) ResetPassword(ctx context.Context, name string) (string, error) {
	u, err := s.store.UserByName(ctx, name)
	if err == nil && u.Name != name { // the database takes them for equal, the login does not
		err = model.Errf(model.CodeNotFound, "error.not_found")
	}
	if err != nil {
		return "", err
	}
	password := NewPassword()
	if _, err = s.setPassword(ctx, u.ID, password, false); err == nil {
		s.note(ctx, model.Actor{Name: "command line", Admin: true}, "password.reset", userThing(&u), nil)
	}
	return password, err
}

// NewPassword makes up a password: 80 random bits in letters and digits.
func NewPassword() string { return strings.ToLower(rand.Text()[:16]) }
