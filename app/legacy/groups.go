package legacy

import (
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// admin refuses everybody else, as the pages of executors and users do.
func (c *call) admin() error {
	if !c.actor.Admin {
		return model.Errf(model.CodeForbidden, "error.forbidden")
	}
	return nil
}

// cut gives the page of a list that is wanted.
func cut[T any](list []T, offset, limit int) []T {
	from := min(max(0, offset), len(list))
	return list[from:min(len(list), from+limit)]
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSpace(part)))
}

func groupList(c *call) (any, error) {
	if err := c.admin(); err != nil {
		return nil, err
	}
	all, err := c.h.Service.Executors(c.r.Context(), c.actor)
	if err != nil {
		return nil, err
	}
	rows := []groupRow{}
	for i := range all.Rows {
		g := &all.Rows[i].Group
		if contains(g.AppName, c.value("appname")) && contains(g.Title, c.value("title", "name")) {
			rows = append(rows, c.groupRow(g))
		}
	}
	slices.SortStableFunc(rows, func(a, b groupRow) int { return strings.Compare(a.AppName, b.AppName) })
	offset, limit := c.paging()
	return page{cut(rows, offset, limit), len(rows)}, nil
}

func groupLoad(c *call) (any, error) {
	id, err := c.shortID()
	if err != nil {
		return nil, err
	}
	g, err := c.h.Service.Executor(c.r.Context(), c.actor, id)
	if err != nil {
		return nil, err
	}
	return c.groupRow(&g), nil
}

func (c *call) executor() (jobs.ExecutorInput, error) {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	in := jobs.ExecutorInput{
		AppName: c.value("appname"), Title: c.value("title", "name"),
		AddressType: model.AddressType(c.number(bad, "addressType")), AddressList: c.value("addressList"),
	}
	return in, problems(bad)
}

func groupAdd(c *call) (any, error) {
	in, err := c.executor()
	if err != nil {
		return nil, err
	}
	_, err = c.h.Service.AddExecutor(c.r.Context(), c.actor, in)
	return nil, err
}

// groupUpdate changes an executor; its app name stays, as in the last generation.
func groupUpdate(c *call) (any, error) {
	id, err := c.shortID()
	if err != nil {
		return nil, err
	}
	in, err := c.executor()
	if err != nil {
		return nil, err
	}
	g, err := c.h.Service.Executor(c.r.Context(), c.actor, id)
	if err != nil {
		return nil, err
	}
	if name := strings.TrimSpace(in.AppName); name != "" && name != g.AppName {
		bad := model.Errf(model.CodeInvalid, "error.invalid")
		bad.AddField("app_name", "field.fixed", "Value", g.AppName)
		return nil, bad
	}
	return nil, c.h.Service.UpdateExecutor(c.r.Context(), c.actor, id, in)
}

func groupDelete(c *call) (any, error) { return c.withJob(c.h.Service.DeleteExecutor) }
