package views

import (
	"github.com/carillon-scheduler/carillon/model"
)

// Users is the list of accounts.
type Users struct {
	Page
	Rows   []model.User
	Groups []model.Group
}

// groupNames gives the executors that a user may use.
func (v Users) groupNames(u model.User) []string {
	var out []string
	actor := u.Actor()
	for _, g := range v.Groups {
		if !actor.Admin && actor.Sees(g.ID) {
			out = append(out, g.Title)
		}
	}
	return out
}

// Password is the form that changes the own password.
type Password struct {
	Page
	Errors  map[string]string
	Message string
}

// Help is the help page.
type Help struct {
	Page
	Version, Build, GoVersion string
	SourceURL, Licence        string
}
