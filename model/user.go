package model

import (
	"slices"
	"strconv"
	"strings"
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
	Permission string // comma separated group ids a user may see

	LegacyHash   string // password column: MD5 or SHA-256 hex of a Java admin
	PasswordHash string // bcrypt, from our side table; empty until the first login
	Language     string // zh-Hans, zh-Hant, en; empty = by browser
	Theme        string // light, dark; empty = by system
	// SessionGeneration grows with each new password; sessions of an older one are over.
	SessionGeneration int64
}

// Actor is who asks for something: the user behind a session, or the API.
type Actor struct {
	UserID int // 0 for the API and the command line
	Name   string
	Admin  bool
	Groups []int
}

// Actor gives the rights of the user.
func (u *User) Actor() Actor {
	a := Actor{UserID: u.ID, Name: u.Name, Admin: u.Role == RoleAdmin}
	for s := range strings.SplitSeq(u.Permission, ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			a.Groups = append(a.Groups, n)
		}
	}
	return a
}

// Sees reports whether the actor may see and change jobs of the group.
func (a Actor) Sees(groupID int) bool { return a.Admin || slices.Contains(a.Groups, groupID) }

// GroupLimit is the list to put into a filter: nil means every group.
func (a Actor) GroupLimit() []int {
	if a.Admin {
		return nil
	}
	if a.Groups == nil {
		return []int{}
	}
	return a.Groups
}
