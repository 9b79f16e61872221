package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// node is one center in its own process, which can be killed, paused and
// started again.
type node struct {
	name string
	url  string
	args []string
	log  string // file
	cmd  *exec.Cmd
	done chan struct{}
}

func newNode(name, database, token, dir string, more ...string) (*node, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	listen := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	return &node{
		name: name, url: "http://" + listen, log: dir + "/" + name + ".log",
		args: append([]string{
			"node", "serve", "--listen", listen, "--database", database, "--access-token", token,
			"--timezone", "UTC", "--node-name", name, "--admin-password", adminPassword,
		}, more...),
	}, nil
}

// start runs the process and waits until it can schedule.
func (n *node) start(ctx context.Context) error {
	if err := n.launch(); err != nil {
		return err
	}
	return n.ready(ctx)
}

// rename gives the name in letters of the other case to the next start.
func (n *node) rename() {
	i := slices.Index(n.args, "--node-name") + 1
	if upper := strings.ToUpper(n.args[i]); upper != n.args[i] {
		n.args[i] = upper
	} else {
		n.args[i] = strings.ToLower(n.args[i])
	}
}

// launch runs the process.
func (n *node) launch() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	n.cmd, n.done = exec.Command(self, n.args...), make(chan struct{})
	n.cmd.Stdout, n.cmd.Stderr = out, out
	endWithParent(n.cmd)
	if err := n.cmd.Start(); err != nil {
		return err
	}
	go func(cmd *exec.Cmd, done chan struct{}) { _ = cmd.Wait(); close(done) }(n.cmd, n.done)
	return nil
}

// ready waits until the center can schedule. One that ends is started again: its
// database may be away just now.
func (n *node) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	for {
		if _, err := get(ctx, n.url+"/readyz"); err == nil {
			return nil
		}
		select {
		case <-n.done:
			return fmt.Errorf("%s ended: see %s", n.name, n.log)
		case <-ctx.Done():
			return fmt.Errorf("%s does not get ready: see %s", n.name, n.log)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (n *node) kill() {
	if n.cmd == nil {
		return
	}
	_ = n.cmd.Process.Kill()
	<-n.done
	n.cmd = nil
}

func (n *node) signal(s syscall.Signal) error { return n.cmd.Process.Signal(s) }

func (n *node) pid() int {
	if n.cmd == nil {
		return 0
	}
	return n.cmd.Process.Pid
}

// get reads a page that must answer 200.
func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return body, err
}
