package store

import (
	"cmp"
	"context"
	"database/sql"

	"github.com/carillon-scheduler/carillon/model"
)

const userSelect = `SELECT u.id, u.username, u.role, u.permission, u.password, c.password_hash, c.language, c.theme, c.session_generation,
	c.rights, c.disabled, c.must_change, c.start_page, c.zone, c.mail, c.list_columns
	FROM xxl_job_user u LEFT JOIN carillon_user c ON c.user_id = u.id`

func scanUser(r row) (model.User, error) {
	var u model.User
	err := r.Scan(&u.ID, &u.Name, &u.Role, nz(&u.Permission), &u.LegacyHash, nz(&u.PasswordHash), nz(&u.Language), nz(&u.Theme), nz(&u.SessionGeneration),
		nz(&u.Rights), flag(&u.Disabled), flag(&u.MustChange), nz(&u.StartPage), nz(&u.Zone), nz(&u.Mail), nz(&u.Columns))
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
		// What a deleted account of a Java admin has left behind under the same id goes.
		if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_user WHERE user_id = ?`, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO carillon_user (user_id, password_hash, language, theme, rights, start_page, must_change, mail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			id, u.PasswordHash, null(u.Language), null(u.Theme), null(u.Rights), null(u.StartPage), null(u.MustChange), null(u.Mail))
		return err
	})
	return int(id), err
}

// SetPasswordHash stores a bcrypt hash beside the user and ends the sessions of
// the user: it returns their new generation. With mustChange the person is to choose an
// own one at the next login.
func (s *Store) SetPasswordHash(ctx context.Context, userID int, hash string, mustChange bool) (generation int64, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO carillon_user (user_id, password_hash, must_change) VALUES (?, ?, ?)`+
			s.d.upsert("user_id", "password_hash", "must_change"), userID, hash, null(mustChange)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE carillon_user SET session_generation = COALESCE(session_generation, 0) + 1
			WHERE user_id = ?`, userID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_session WHERE user_id = ?`, userID); err != nil {
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

// UpdateUser writes role, rights, preferences and whether the account is disabled; name and
// passwords stay. Disabling ends the sessions. Two that do it at once
// cannot lose the last administrator: that is error.last_admin. A missing user is
// model.CodeNotFound.
func (s *Store) UpdateUser(ctx context.Context, u *model.User) error {
	return s.keepingAdmin(ctx, func(tx *sql.Tx) error {
		var there int
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_user WHERE id = ?`, u.ID).Scan(&there)
		if err != nil {
			return err
		}
		if there == 0 {
			return model.Errf(model.CodeNotFound, "error.user_not_found", "ID", u.ID)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE xxl_job_user SET role = ?, permission = ? WHERE id = ?`, u.Role, null(u.Permission), u.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, s.d.insertIgnore+`carillon_user (user_id) VALUES (?)`, u.ID); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE carillon_user SET language = ?, theme = ?, rights = ?, start_page = ?, mail = ?, disabled = ?,
			session_generation = COALESCE(session_generation, 0) + ? WHERE user_id = ?`,
			null(u.Language), null(u.Theme), null(u.Rights), null(u.StartPage), null(u.Mail), null(u.Disabled), boolInt(u.Disabled), u.ID)
		if err == nil && u.Disabled {
			_, err = tx.ExecContext(ctx, `DELETE FROM carillon_session WHERE user_id = ?`, u.ID)
		}
		return err
	})
}

// DeleteUser removes an account with its sessions, but not the last administrator.
func (s *Store) DeleteUser(ctx context.Context, id int) error {
	return s.keepingAdmin(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM xxl_job_user WHERE id = ?`, id)
		if err := changedOne(res, err, "error.user_not_found"); err != nil {
			return err
		}
		for _, table := range []string{"carillon_user", "carillon_session", "carillon_favourite", "carillon_filter"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE user_id = ?`, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepingAdmin changes accounts and takes that back when no administrator who can log
// in is left. The accounts are locked first, so that of two changes at once
// the later one sees the earlier.
func (s *Store) keepingAdmin(ctx context.Context, change func(*sql.Tx) error) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := collect(ctx, tx, one[int], `SELECT id FROM xxl_job_user ORDER BY id`+s.d.forUpdate); err != nil {
			return err
		}
		if err := change(tx); err != nil {
			return err
		}
		var left int
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_user u LEFT JOIN carillon_user c ON c.user_id = u.id
			WHERE u.role = 1 AND COALESCE(c.disabled, 0) = 0`).Scan(&left)
		if err == nil && left == 0 {
			err = model.Errf(model.CodeInvalid, "error.last_admin")
		}
		return err
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// SetProfile stores what people choose for themselves.
func (s *Store) SetProfile(ctx context.Context, userID int, p model.Profile) error {
	_, err := s.w.ExecContext(ctx, `INSERT INTO carillon_user (user_id, language, theme, start_page, zone, mail) VALUES (?, ?, ?, ?, ?, ?)`+
		s.d.upsert("user_id", "language", "theme", "start_page", "zone", "mail"), userID, null(p.Language), null(p.Theme), null(p.StartPage), null(p.Zone), null(p.Mail))
	return err
}

// SetPreferences stores language and theme of a user.
func (s *Store) SetPreferences(ctx context.Context, userID int, language, theme string) error {
	_, err := s.w.ExecContext(ctx, `INSERT INTO carillon_user (user_id, language, theme) VALUES (?, ?, ?)`+
		s.d.upsert("user_id", "language", "theme"), userID, null(language), null(theme))
	return err
}

// MailReader gives language and zone that the person behind a mail address has chosen, "" where
// nothing is. Of several accounts with the address the oldest that has chosen counts; capitals
// make no difference, and accounts that are disabled are nobody's.
func (s *Store) MailReader(ctx context.Context, address string) (p model.Profile, err error) {
	list, err := collect(ctx, s.r, func(r row) (p model.Profile, err error) { err = r.Scan(nz(&p.Language), nz(&p.Zone)); return p, err },
		`SELECT c.language, c.zone FROM carillon_user c JOIN xxl_job_user u ON u.id = c.user_id WHERE LOWER(c.mail) = LOWER(?) AND COALESCE(c.disabled, 0) = 0 ORDER BY u.id`, address)
	for _, x := range list {
		p.Language, p.Zone = cmp.Or(p.Language, x.Language), cmp.Or(p.Zone, x.Zone)
	}
	return p, err
}
