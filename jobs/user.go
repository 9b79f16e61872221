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

// Login checks name and password. Unknown names and wrong passwords give the
// same error after about the same time. A hash of a Java admin is verified once
// and replaced by bcrypt in our side table.
func (s *Service) Login(ctx context.Context, name, password string) (model.User, error) {
	wrong := model.Errf(model.CodeInvalid, "error.login")
	u, err := s.store.UserByName(ctx, strings.TrimSpace(name))
	if model.CodeOf(err) == model.CodeNotFound {
		_ = bcrypt.CompareHashAndPassword([]byte(nobodysHash), []byte(password))
		return model.User{}, wrong
	}
	if err != nil {
		return model.User{}, err
	}
	if u.PasswordHash != "" {
		if bcrypt.CompareHashAndPassword([]byte(u.PasswordHash), []byte(password)) != nil {
			return model.User{}, wrong
		}
		return u, nil
	}
	if !legacyMatches(u.LegacyHash, password) {
		return model.User{}, wrong
	}
	return u, s.setPassword(ctx, u.ID, password)
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

func (s *Service) setPassword(ctx context.Context, userID int, password string) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return err
	}
	return s.store.SetPasswordHash(ctx, userID, string(hash))
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

// ChangePassword replaces a user's own password.
func (s *Service) ChangePassword(ctx context.Context, userID int, old, new string) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	u, err := s.store.User(ctx, userID)
	if err != nil {
		return err
	}
	if _, err := s.Login(ctx, u.Name, old); model.CodeOf(err) == model.CodeInvalid {
		bad.AddField("old", "field.wrong_password")
	} else if err != nil {
		return err
	}
	checkPassword(bad, "new", new)
	if len(bad.Fields) > 0 {
		return bad
	}
	return s.setPassword(ctx, userID, new)
}

func checkPassword(bad *model.Error, field, password string) {
	if utf8.RuneCountInString(password) < minPassword || len(password) > maxPassword {
		bad.AddField(field, "field.password", "Min", minPassword, "Max", maxPassword)
	}
}

// EnsureAdmin creates the first administrator when there is no user at all. It
// returns the password when it made one up, so that it can be shown once.
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
	_, err = s.store.InsertUser(ctx, &model.User{Name: "admin", Role: model.RoleAdmin, PasswordHash: string(hash)})
	if model.CodeOf(err) == model.CodeConflict {
		return "", nil // another node was faster
	}
	return madeUp, err
}

// ResetPassword gives a user a new random password and returns it.
func (s *Service) ResetPassword(ctx context.Context, name string) (string, error) {
	u, err := s.store.UserByName(ctx, name)
	if err != nil {
		return "", err
	}
	password := NewPassword()
	return password, s.setPassword(ctx, u.ID, password)
}

// NewPassword makes up a password: 80 random bits in letters and digits.
func NewPassword() string { return strings.ToLower(rand.Text()[:16]) }
