// Package mariadb runs a throw-away MariaDB server for tests and benchmarks.
package mariadb

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

// Server is a MariaDB server in a temporary folder, on a loopback port.
type Server struct {
	Port int

	dir    string
	daemon string
	args   []string
	cmd    *exec.Cmd
	done   chan error
}

// Options say how the server behaves.
type Options struct {
	// Durable makes it keep every commit when it is killed, as production does.
	// Without it the server is faster and may forget the last second.
	Durable bool
	// BufferPoolMB is the memory for pages; default 128.
	BufferPoolMB int
}

// Start starts a server and waits until it answers. That the program is missing
// is an error that says what to install, never a skip.
func Start(ctx context.Context, o Options) (*Server, error) {
	install, err1 := exec.LookPath("mariadb-install-db")
	daemon, err2 := exec.LookPath("mariadbd")
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("the tests need a MariaDB server: run \"make test\" as root, or install mariadb-server: %w", err)
	}
	dir, err := os.MkdirTemp("", "carillon-mariadb-")
	if err != nil {
		return nil, err
	}
	m := &Server{dir: dir, daemon: daemon}
	// A folder for temporary tables of its own: servers that start remove those of
	// others from a shared one.
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return nil, errors.Join(err, m.clean())
	}
	args := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--tmpdir=" + tmp}
	if os.Geteuid() == 0 { // the server refuses to run as root
		if err := errors.Join(giveToMySQL(dir), giveToMySQL(tmp)); err != nil {
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
	if o.BufferPoolMB == 0 {
		o.BufferPoolMB = 128
	}
	args = append(args,
		"--socket="+filepath.Join(dir, "s"), "--pid-file="+filepath.Join(dir, "pid"),
		"--bind-address=127.0.0.1", "--port="+strconv.Itoa(m.Port), "--skip-log-bin", "--skip-name-resolve",
		fmt.Sprintf("--innodb-buffer-pool-size=%dM", o.BufferPoolMB), "--max-connections=400")
	if !o.Durable {
		args = append(args, "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
	}
	m.args = args
	return m, m.start(ctx)
}

func (m *Server) start(ctx context.Context) error {
	m.cmd, m.done = exec.Command(m.daemon, m.args...), make(chan error, 1)
	log, err := os.OpenFile(filepath.Join(m.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	m.cmd.Stdout, m.cmd.Stderr = log, log
	endWithParent(m.cmd)
	if err := m.cmd.Start(); err != nil {
		return errors.Join(err, m.clean())
	}
	go func(cmd *exec.Cmd, done chan error) { done <- cmd.Wait() }(m.cmd, m.done)
	return m.wait(ctx)
}

func (m *Server) wait(ctx context.Context) error {
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

func (m *Server) dsn(database string) string {
	return fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s", m.Port, database)
}

// Create makes an empty database and returns its URL.
func (m *Server) Create(ctx context.Context, name string) (string, error) {
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

// Restart ends the server, gently or with kill -9, lets it be away for a while
// and starts it again on its data. It returns when the server answers.
func (m *Server) Restart(ctx context.Context, kill bool, away time.Duration) error {
	if err := m.end(kill); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(away):
	}
	return m.start(context.WithoutCancel(ctx))
}

// end ends the process, gently or with kill -9.
func (m *Server) end(kill bool) error {
	sig := os.Signal(syscall.SIGTERM)
	if kill {
		sig = syscall.SIGKILL
	}
	if err := m.cmd.Process.Signal(sig); err != nil {
		return err
	}
	<-m.done
	return nil
}

// Copy puts a copy of the data aside for Restore. The server is away meanwhile.
func (m *Server) Copy(ctx context.Context) error {
	if err := m.end(false); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "cp", "-a", filepath.Join(m.dir, "data"), filepath.Join(m.dir, "copy")).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("copy the data: %w: %s", err, out)
	}
	return errors.Join(err, m.start(context.WithoutCancel(ctx)))
}

// Restore kills the server and starts it again on the data that Copy put aside: what
// was committed since is forgotten.
func (m *Server) Restore(ctx context.Context) error {
	if err := m.end(true); err != nil {
		return err
	}
	data := filepath.Join(m.dir, "data")
	if err := errors.Join(os.RemoveAll(data), os.Rename(filepath.Join(m.dir, "copy"), data)); err != nil {
		return err
	}
	return m.start(context.WithoutCancel(ctx))
}

// PID is the process id.
func (m *Server) PID() int { return m.cmd.Process.Pid }

// Stop ends the server and removes its folder.
func (m *Server) Stop() error {
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

func (m *Server) clean() error { return os.RemoveAll(m.dir) }

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
