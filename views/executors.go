package views

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Executors is the executor list.
type Executors struct {
	Page
	Rows       []ExecutorRow
	Unassigned []ExecutorRow
	Command    string // starts a sample executor for this center
}

// ExecutorRow is one executor or one app name that waits to be added.
type ExecutorRow struct {
	model.Group
	Nodes    []ExecutorNode
	JobCount int
}

// ExecutorNode is one address of an executor.
type ExecutorNode struct {
	Address string
	Beat    time.Time
	Alive   bool
}

// ExecutorForm is the form of a new or an existing executor.
type ExecutorForm struct {
	Page
	ID      int
	Values  map[string]string
	Errors  map[string]string
	Message string
}

func (v ExecutorForm) field(name, label string) Field {
	f := Field{Name: name, Label: v.T(label), Value: v.Values[name], Error: v.Errors[name]}
	for _, n := range []string{"app_name", "title", "address_type", "address_list"} {
		if v.Errors[n] != "" {
			f.Focus = n == name
			break
		}
	}
	return f
}
