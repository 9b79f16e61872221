package store

import (
	"context"
	"database/sql"

	"github.com/carillon-scheduler/carillon/model"
)

const userSelect = `SELECT u.id, u.username, u.role, u.permission, u.password, c.password_hash, c.language, c.theme, c.session_generation
	FROM xxl_job_user u LEFT JOIN carillon_user c ON c.user_id = u.id`

func scanUser(r row) (model.User, error) {
	var u model.User
	err := r.Scan(&u.ID, &u.Name, &u.Role, nz(&u.Permission), &u.LegacyHash, nz(&u.PasswordHash), nz(&u.Language), nz(&u.Theme), nz(&u.SessionGeneration))
	return u, err
}

// User reads one user; a missing one is model.CodeNotFound.
func (s *Store) User(ctx context.Context, id int) (model.User, error) {
	u, err := scanUser(s.r.QueryRowContext(ctx, userSelect+` WHERE u.id = ?`, id))
	return u, notFound(err, "error.user_not_found", id)
}

// UserByName reads one user; a missing one is model.CodeNotFound.
func (s *Store) UserByName(ctx context.Context, name string) (model.User, error) {
	u, err := scanUser(s.r.QueryRowContext(ctx, userSelect+` WHERE u.username = ?`, name))
	return u, notFound(err, "error.user_not_found", name)
}

// Users lists all users by name.
func (s *Store) Users(ctx context.Context) ([]model.User, error) {
	return collect(ctx, s.r, scanUser, userSelect+` ORDER BY u.username`)
}

// InsertUser writes a new user with a password hash in our side table. The old
// column gets a value that no hash can equal, so a Java admin lets nobody in.
// A taken name is model.CodeConflict.
func (s *Store) InsertUser(ctx context.Context, u *model.User) (int, error) {
	var id int64
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO xxl_job_user (username, password, role, permission) VALUES (?, '!', ?, ?)`,
			u.Name, u.Role, null(u.Permission))
		if isDuplicate(err) {
			return model.Errf(model.CodeConflict, "error.user_taken", "Name", u.Name)
		}
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO carillon_user (user_id, password_hash) VALUES (?, ?)`+s.d.upsert("user_id", "password_hash"), id, u.PasswordHash)
		return err
	})
	return int(id), err
}

// SetPasswordHash stores a bcrypt hash beside the user and ends the sessions of
// the user: it returns their new generation.
func (s *Store) SetPasswordHash(ctx context.Context, userID int, hash string) (generation int64, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO carillon_user (user_id, password_hash) VALUES (?, ?)`+
			s.d.upsert("user_id", "password_hash"), userID, hash); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE carillon_user SET session_generation = COALESCE(session_generation, 0) + 1
			WHERE user_id = ?`, userID); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT session_generation FROM carillon_user WHERE user_id = ?`, userID).Scan(&generation)
	})
	return generation, err
}

// UpgradePasswordHash stores the bcrypt hash of a password that was verified by
// an older hash. A password that was set meanwhile stays, and so do sessions.
func (s *Store) UpgradePasswordHash(ctx context.Context, userID int, hash string) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.d.insertIgnore+`carillon_user (user_id) VALUES (?)`, userID); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE carillon_user SET password_hash = ? WHERE user_id = ? AND (password_hash IS NULL OR password_hash = '')`,
			hash, userID)
		return err
	})
}

// SetPreferences stores language and theme of a user.
func (s *Store) SetPreferences(ctx context.Context, userID int, language, theme string) error {
	_, err := s.w.ExecContext(ctx, `INSERT INTO carillon_user (user_id, language, theme) VALUES (?, ?, ?)`+
		s.d.upsert("user_id", "language", "theme"), userID, null(language), null(theme))
	return err
}
