package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql" // readiness check
)

// MariaDB is a throw-away server in a temporary folder, on a loopback port.
// Durability is off: it is fast and forgets everything.
type MariaDB struct {
	Port int
	dir  string
	cmd  *exec.Cmd
	done chan error
}

// StartMariaDB starts a server and waits until it answers. The server is
// missing is an error that says what to install, never a skip.
func StartMariaDB(ctx context.Context) (*MariaDB, error) {
	install, err1 := exec.LookPath("mariadb-install-db")
	daemon, err2 := exec.LookPath("mariadbd")
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("the tests need a MariaDB server: run \"make test\" as root, or install mariadb-server: %w", err)
	}
	dir, err := os.MkdirTemp("", "carillon-mariadb-")
	if err != nil {
		return nil, err
	}
	m := &MariaDB{dir: dir, done: make(chan error, 1)}
	args := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data")}
	if os.Geteuid() == 0 { // the server refuses to run as root
		if err := giveToMySQL(dir); err != nil {
			return nil, errors.Join(err, m.clean())
		}
		args = append(args, "--user=mysql")
	}
	out, err := exec.CommandContext(ctx, install, append(args, "--skip-test-db", "--auth-root-authentication-method=normal")...).CombinedOutput()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mariadb-install-db: %w\n%s", err, out), m.clean())
	}
	if m.Port, err = freePort(); err != nil {
		return nil, errors.Join(err, m.clean())
	}
	return m, m.start(ctx, daemon, args)
}

func (m *MariaDB) start(ctx context.Context, daemon string, args []string) error {
	m.cmd = exec.Command(daemon, append(args,
		"--socket="+filepath.Join(m.dir, "s"), "--pid-file="+filepath.Join(m.dir, "pid"),
		"--bind-address=127.0.0.1", "--port="+strconv.Itoa(m.Port), "--skip-log-bin", "--skip-name-resolve",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-buffer-pool-size=128M", "--max-connections=400")...)
	log, err := os.Create(filepath.Join(m.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	m.cmd.Stdout, m.cmd.Stderr = log, log
	endWithParent(m.cmd)
	if err := m.cmd.Start(); err != nil {
		return errors.Join(err, m.clean())
	}
	go func() { m.done <- m.cmd.Wait() }()
	return m.wait(ctx)
}

func (m *MariaDB) wait(ctx context.Context) error {
	db, err := sql.Open("mysql", m.dsn(""))
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-m.done:
			log, _ := os.ReadFile(filepath.Join(m.dir, "log"))
			return fmt.Errorf("mariadbd ended:\n%s", log)
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("mariadbd does not answer: %w", err), m.Stop())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (m *MariaDB) dsn(database string) string {
	return fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s", m.Port, database)
}

// Create makes an empty database and returns its URL.
func (m *MariaDB) Create(ctx context.Context, name string) (string, error) {
	db, err := sql.Open("mysql", m.dsn(""))
	if err != nil {
		return "", err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE `"+name+"` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"); err != nil {
		return "", err
	}
	return fmt.Sprintf("mysql://root@127.0.0.1:%d/%s", m.Port, name), nil
}

// Stop ends the server and removes its folder.
func (m *MariaDB) Stop() error {
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err == nil {
		select {
		case <-m.done:
		case <-time.After(20 * time.Second):
			_ = m.cmd.Process.Kill()
			<-m.done
		}
	}
	return m.clean()
}

func (m *MariaDB) clean() error { return os.RemoveAll(m.dir) }

// giveToMySQL lets the user mysql into the folder.
func giveToMySQL(dir string) error {
	u, err := user.Lookup("mysql")
	if err != nil {
		return err
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return errors.Join(err1, err2, os.Chmod(dir, 0o755), os.Chown(dir, uid, gid))
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
