package store

import (
	"database/sql"
	"errors"
	"strings"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// dialect holds everything in which the engines differ. All other SQL in this
// package is one text for SQLite, MySQL 8+ and MariaDB 10.6+.
type dialect struct {
	name string
	// nowMS is the database's clock as epoch milliseconds.
	nowMS string
	// lockRow follows a SELECT whose row must be locked without waiting.
	lockRow string
	// noWait follows a SELECT whose rows are changed in the same transaction; an error
	// that isBusy knows says that another session has locked one of them.
	noWait string
	// skipLocked is the same, without the rows that are locked.
	skipLocked string
	// forUpdate follows a SELECT whose rows are changed in the same transaction.
	forUpdate string
	// insertIgnore begins an INSERT that skips rows whose unique key exists.
	insertIgnore string
	// concat joins two text expressions.
	concat func(a, b string) string
	// upsert follows an INSERT to update the named columns when the key exists.
	upsert func(key string, columns ...string) string
	// upsertAdd follows an INSERT to add the new value of a column to the old one.
	upsertAdd func(key, table, column string) string
	// rowUpdate builds the statement of updateRows for rowsAtOnce rows at most.
	rowUpdate  func(ids []int64, fixed string, fixedArgs []any, all []column, at int, where string, whereArgs []any) (string, []any)
	rowsAtOnce int
	// least and greatest of two numbers.
	least, greatest func(a, b string) string
	// joinInOrder joins the tables in the order in which they are named.
	joinInOrder string
	// upsertPicks follows an INSERT into carillon_route: counts add up, the later use stays.
	upsertPicks string
	// snapshot is the isolation in which all reads of a transaction see one moment.
	snapshot sql.IsolationLevel
}

func sqliteDialect() dialect {
	return dialect{
		name:         "sqlite",
		nowMS:        "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
		insertIgnore: "INSERT OR IGNORE INTO ", // the write lock was taken at BEGIN
		concat:       func(a, b string) string { return a + " || " + b },
		rowUpdate:    sqliteRowUpdate,
		rowsAtOnce:   500,
		joinInOrder:  " CROSS JOIN ",
		least:        func(a, b string) string { return "MIN(" + a + ", " + b + ")" },
		greatest:     func(a, b string) string { return "MAX(" + a + ", " + b + ")" },
		upsert: func(key string, columns ...string) string {
			set := make([]string, len(columns))
			for i, c := range columns {
				set[i] = c + " = excluded." + c
			}
			return " ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(set, ", ")
		},
		upsertAdd: func(key, table, column string) string {
			return " ON CONFLICT (" + key + ") DO UPDATE SET " + column + " = " + table + "." + column + " + excluded." + column
		},
		upsertPicks: " ON CONFLICT (job_id, address) DO UPDATE SET picks = picks + excluded.picks, used_at = MAX(used_at, excluded.used_at)",
	}
}

func mysqlDialect() dialect {
	return dialect{
		name:         "mysql",
		nowMS:        "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
		lockRow:      " FOR UPDATE NOWAIT",
		noWait:       " FOR UPDATE NOWAIT",
		skipLocked:   " FOR UPDATE SKIP LOCKED",
		forUpdate:    " FOR UPDATE",
		insertIgnore: "INSERT IGNORE INTO ",
		concat:       func(a, b string) string { return "CONCAT(" + a + ", " + b + ")" },
		rowUpdate:    mysqlRowUpdate,
		rowsAtOnce:   300,
		joinInOrder:  " STRAIGHT_JOIN ",
		least:        func(a, b string) string { return "LEAST(" + a + ", " + b + ")" },
		greatest:     func(a, b string) string { return "GREATEST(" + a + ", " + b + ")" },
		upsert: func(_ string, columns ...string) string {
			set := make([]string, len(columns))
			for i, c := range columns {
				set[i] = c + " = VALUES(" + c + ")"
			}
			return " ON DUPLICATE KEY UPDATE " + strings.Join(set, ", ")
		},
		upsertAdd: func(_, table, column string) string {
			return " ON DUPLICATE KEY UPDATE " + column + " = " + table + "." + column + " + VALUES(" + column + ")"
		},
		snapshot:    sql.LevelRepeatableRead,
		upsertPicks: " ON DUPLICATE KEY UPDATE picks = picks + VALUES(picks), used_at = GREATEST(used_at, VALUES(used_at))",
	}
}

// MySQL error numbers.
const (
	myDuplicate   = 1062
	myLockWait    = 1205
	myDeadlock    = 1213
	myLockNoWait  = 3572 // MySQL 8: NOWAIT
	mySnapshotOld = 1020 // MariaDB: record has changed since last read
)

// isBusy reports whether somebody else holds the lock right now.
func isBusy(err error) bool {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number == myLockWait || e.Number == myLockNoWait
	}
	return isRetryable(err)
}

// isLockWait reports whether a statement has waited too long for a row.
func isLockWait(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && e.Number == myLockWait
}

// isRetryable reports whether the same transaction may succeed when it is tried again.
func isRetryable(err error) bool {
	if errors.Is(err, errKnownFire) {
		return true // two transactions wrote the same follow-up: the second sees it now
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number == myDeadlock || e.Number == myLockWait || e.Number == mySnapshotOld
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code := e.Code() & 0xff
		return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
	}
	return false
}

// isBadRow reports whether the engine refuses a value for what it is.
func isBadRow(err error) bool {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch e.Number {
		case 1048, 1264, 1265, 1292, 1366, 1406, 1411, 3988: // NULL, out of range, truncated, wrong value, wrong string, too long, cannot be converted
			return true
		}
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code := e.Code() & 0xff
		return code == sqlite3.SQLITE_TOOBIG || code == sqlite3.SQLITE_MISMATCH || code == sqlite3.SQLITE_RANGE
	}
	return false
}

// isDuplicate reports whether a unique key refused the row.
func isDuplicate(err error) bool {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number == myDuplicate
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}
