package jobs

import (
	"context"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// namesLookedAt bounds how many jobs are looked at whose names contain what was typed.
const namesLookedAt = 200

// JobNamed is the id of the job that somebody typed into a field: its number, "#12", "12 · its
// name" as the suggestions have it, or a name that one job alone has among those the actor
// may see. "" is 0. Another number is given back as it is: who saves it looks for the job.
// CodeNotFound when no job has the name, CodeConflict when several have it.
func (s *Service) JobNamed(ctx context.Context, actor model.Actor, text string) (int, error) {
	text = strings.TrimSpace(text)
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "#"), " · ")
	if id, err := strconv.Atoi(head); text == "" || err == nil {
		return id, nil
	}
	list, err := s.store.JobsOf(ctx, model.JobFilter{Groups: actor.GroupLimit(), Name: text, Sort: model.JobsByName, Limit: namesLookedAt})
	if err != nil {
		return 0, err
	}
	id := 0
	for _, j := range list {
		if j.Name != text {
			continue
		}
		if id != 0 {
			return 0, model.Errf(model.CodeConflict, "field.job_many")
		}
		id = j.ID
	}
	if id == 0 {
		return 0, model.Errf(model.CodeNotFound, "field.job_none")
	}
	return id, nil
}
