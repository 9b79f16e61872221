package model

import (
	"maps"
	"slices"
	"time"
)

// Role is the role of a user as stored.
type Role int

// Roles.
const (
	RoleUser  Role = 0
	RoleAdmin Role = 1
)

// User is one row of xxl_job_user with our side table beside it.
type User struct {
	ID         int
	Name       string
	Role       Role
	Permission string // comma separated ids of executors whose jobs the user may edit with their scripts
	Rights     string // all other grants, as Rights.Columns writes them
	Disabled   bool   // cannot log in
	MustChange bool   // somebody else chose the password: the console asks for an own one first

	LegacyHash   string // password column: MD5 or SHA-256 hex of a Java admin
	PasswordHash string // bcrypt, from our side table; empty until the first login
	Language     string // zh-Hans, zh-Hant, en; empty = by browser
	Theme        string // light, dark; empty = by system
	StartPage    string // one of StartPages; empty = the dashboard
	Zone         string // IANA name of the zone in which the person reads times; empty = that of the center
	Mail         string // address for alarms and reports, which are written in Language and Zone; empty = none
	Columns      Columns
	// SessionGeneration grows with each new password and when the account is disabled;
	// sessions of an older one are over.
	SessionGeneration int64
}

// MailPerson is an account with a mail address.
type MailPerson struct{ Name, Mail string }

// Profile is what people choose for themselves; empty = automatic, or as the center has it.
type Profile struct{ Language, Theme, StartPage, Zone, Mail string }

// StartPages lists where a person may begin: paths of the console.
func StartPages() []string { return []string{"", "/jobs", "/runs"} }

// Actor is who asks for something: the user behind a session, or the API.
type Actor struct {
	UserID int // 0 for the API and the command line
	Name   string
	From   string // address that the wish came from, for the audit; "" = this machine
	Admin  bool   // may do everything
	Groups []int  // executors whose jobs may be edited with their scripts
	Rights Rights // other grants
}

// Actor gives the rights of the user.
func (u *User) Actor() Actor {
	return Actor{UserID: u.ID, Name: u.Name, Admin: u.Role == RoleAdmin, Rights: ParseRights(u.Permission, u.Rights)}
}

// Grant gives what the actor may do with an executor.
func (a Actor) Grant(groupID int) Grant {
	if a.Admin {
		return Grant{LevelAdminister, true}
	}
	g := a.Rights.Groups[groupID]
	if slices.Contains(a.Groups, groupID) && g.Level <= LevelEdit {
		g = Grant{LevelEdit, true}
	}
	g.Scripts = g.Scripts || a.Rights.All.Scripts
	g.Level = max(g.Level, a.Rights.All.Level)
	return g
}

// May reports whether the actor has a level for an executor.
func (a Actor) May(l Level, groupID int) bool { return a.Grant(groupID).Level >= l }

// Scripts reports whether the actor may change scripts of the executor's jobs.
func (a Actor) Scripts(groupID int) bool {
	g := a.Grant(groupID)
	return g.Level >= LevelEdit && g.Scripts
}

// MaySomewhere reports whether the actor has a level for any executor, or for all.
func (a Actor) MaySomewhere(l Level) bool {
	if a.Admin || a.Rights.All.Level >= l || len(a.Groups) > 0 && l <= LevelEdit {
		return true
	}
	for _, g := range a.Rights.Groups {
		if g.Level >= l {
			return true
		}
	}
	return false
}

// Sees reports whether the actor may see jobs of the group.
func (a Actor) Sees(groupID int) bool { return a.May(LevelView, groupID) }

// GroupLimit is the list to put into a filter: nil means every group.
func (a Actor) GroupLimit() []int {
	if a.Admin || a.Rights.All.Level >= LevelView {
		return nil
	}
	out := append([]int{}, a.Groups...)
	for id := range maps.Keys(a.Rights.Groups) {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Session is one login of a person.
type Session struct {
	ID       string // stands for the session, and opens nothing
	UserID   int
	Began    time.Time // zero for logins of before this was noted
	Seen     time.Time // some minutes exact
	From     string    // address at the login
	Agent    string    // as the browser calls itself
	Current  bool      // the one that asks
	Remember bool      // goes on when the browser is closed
}
