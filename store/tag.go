package store

import (
	"context"
	"database/sql"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// addTags fills in the tags of jobs.
func (s *Store) addTags(ctx context.Context, q querier, list []model.Job) error {
	at := make(map[int]int, len(list))
	ids := make([]int, len(list))
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, i
	}
	type entry struct {
		job int
		tag string
	}
	return chunks(ids, 1000, func(part []int) error {
		found, err := collect(ctx, q, func(r row) (e entry, err error) { err = r.Scan(&e.job, &e.tag); return e, err },
			`SELECT job_id, tag FROM carillon_job_tag WHERE job_id IN (`+marks(len(part))+`) ORDER BY job_id, tag`, anys(part)...)
		for _, e := range found {
			j := &list[at[e.job]]
			j.Tags = strings.TrimPrefix(j.Tags+","+e.tag, ",")
		}
		return err
	})
}

// setTags makes the tags of a job those of the text.
func (s *Store) setTags(ctx context.Context, tx *sql.Tx, id int, tags string) error {
	was, err := collect(ctx, tx, one[string], `SELECT tag FROM carillon_job_tag WHERE job_id = ? ORDER BY tag`, id)
	if err != nil {
		return err
	}
	list := model.TagList(tags)
	if model.JoinTags(model.TagList(model.JoinTags(was))) == model.JoinTags(list) {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_job_tag WHERE job_id = ?`, id); err != nil || len(list) == 0 {
		return err
	}
	var args []any
	for _, tag := range list {
		args = append(args, id, tag)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO carillon_job_tag (job_id, tag) VALUES `+rowsOf(2, len(list)), args...)
	return err
}

// Tags lists the tags that jobs of the groups (nil = all) have, in the order of the alphabet.
func (s *Store) Tags(ctx context.Context, groups []int, limit int) ([]string, error) {
	if groups == nil { // by the index alone
		return collect(ctx, s.r, one[string], `SELECT DISTINCT tag FROM carillon_job_tag ORDER BY tag LIMIT ?`, limit)
	}
	limitTo, args := inGroups("i.job_group", groups)
	return collect(ctx, s.r, one[string], `SELECT DISTINCT t.tag FROM xxl_job_info i JOIN carillon_job_tag t ON t.job_id = i.id WHERE 1 = 1`+limitTo+
		` ORDER BY t.tag LIMIT ?`, append(args, limit)...)
}
