package store

import (
	"context"
	"database/sql"

	"github.com/carillon-scheduler/carillon/model"
)

// Favourites tells which of the jobs a user has marked.
func (s *Store) Favourites(ctx context.Context, userID int, jobs []int) (map[int]bool, error) {
	out := map[int]bool{}
	err := chunks(jobs, 1000, func(part []int) error {
		ids, err := collect(ctx, s.r, one[int], `SELECT job_id FROM carillon_favourite WHERE user_id = ? AND job_id IN (`+marks(len(part))+`)`,
			append([]any{userID}, anys(part)...)...)
		for _, id := range ids {
			out[id] = true
		}
		return err
	})
	return out, err
}

// SetFavourite marks a job for a user, or no longer. More than model.MaxFavourites are an
// error.
func (s *Store) SetFavourite(ctx context.Context, userID, jobID int, on bool) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if !on {
			_, err := tx.ExecContext(ctx, `DELETE FROM carillon_favourite WHERE user_id = ? AND job_id = ?`, userID, jobID)
			return err
		}
		var n int
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM carillon_favourite WHERE user_id = ? AND job_id <> ?`, userID, jobID).Scan(&n)
		if err != nil {
			return err
		}
		if n >= model.MaxFavourites {
			return model.Errf(model.CodeInvalid, "error.too_many_favourites", "Max", model.MaxFavourites)
		}
		_, err = tx.ExecContext(ctx, s.d.insertIgnore+`carillon_favourite (user_id, job_id) VALUES (?, ?)`, userID, jobID)
		return err
	})
}

// Filters lists what a user has kept for a list, by name.
func (s *Store) Filters(ctx context.Context, userID int, list string) ([]model.SavedFilter, error) {
	return collect(ctx, s.r, func(r row) (f model.SavedFilter, err error) {
		f.List = list
		err = r.Scan(&f.Name, &f.Query)
		return f, err
	}, `SELECT name, query FROM carillon_filter WHERE user_id = ? AND list = ? ORDER BY name`, userID, list)
}

// SaveFilter keeps a filter under its name; one that has the name already is replaced.
// More than model.MaxFilters of a list are an error.
func (s *Store) SaveFilter(ctx context.Context, userID int, f model.SavedFilter) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		var n int
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM carillon_filter WHERE user_id = ? AND list = ? AND name <> ?`, userID, f.List, f.Name).Scan(&n)
		if err != nil {
			return err
		}
		if n >= model.MaxFilters {
			return model.Errf(model.CodeInvalid, "error.too_many_filters", "Max", model.MaxFilters)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO carillon_filter (user_id, list, name, query) VALUES (?, ?, ?, ?)`+
			s.d.upsert("user_id, list, name", "query"), userID, f.List, f.Name, f.Query)
		return err
	})
}

// RenameFilter gives a kept filter another name; a taken one is a conflict.
func (s *Store) RenameFilter(ctx context.Context, userID int, list, old, name string) error {
	res, err := s.w.ExecContext(ctx, `UPDATE carillon_filter SET name = ? WHERE user_id = ? AND list = ? AND name = ?`, name, userID, list, old)
	if isDuplicate(err) {
		return model.Errf(model.CodeConflict, "error.filter_taken", "Name", name)
	}
	return changedOne(res, err, "error.filter_gone")
}

// DeleteFilter removes a kept filter; one that is gone is no error.
func (s *Store) DeleteFilter(ctx context.Context, userID int, list, name string) error {
	_, err := s.w.ExecContext(ctx, `DELETE FROM carillon_filter WHERE user_id = ? AND list = ? AND name = ?`, userID, list, name)
	return err
}

// SetColumns keeps which columns of lists a user wants.
func (s *Store) SetColumns(ctx context.Context, userID int, columns model.Columns) error {
	_, err := s.w.ExecContext(ctx, `INSERT INTO carillon_user (user_id, list_columns) VALUES (?, ?)`+s.d.upsert("user_id", "list_columns"), userID, null(string(columns)))
	return err
}
