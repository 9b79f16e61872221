package store

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// conns knows the network connections of a store, so that those that have died in
// silence can be dropped: a firewall that lost its state answers nothing, and whoever
// waits for an answer waits until its time-out.
type conns struct {
	now func() time.Time

	mu   sync.Mutex
	open map[*knownConn]bool
}

func newConns(now func() time.Time) *conns { return &conns{now: now, open: map[*knownConn]bool{}} }

// dial connects; the connection is known until it is closed.
func (c *conns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAlive: 10 * time.Second}
	nc, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	k := &knownConn{Conn: nc, of: c}
	k.heard.Store(c.now().UnixNano())
	c.mu.Lock()
	c.open[k] = true
	c.mu.Unlock()
	return k, nil
}

// dropSilent closes what has heard nothing since the moment, also idle ones. Whoever
// waits on one of them gets an error at once and dials anew.
func (c *conns) dropSilent(since time.Time) int {
	return c.drop(func(k *knownConn) bool { return k.heard.Load() < since.UnixNano() })
}

// dropWaiting closes those on which an answer has been awaited for so long.
func (c *conns) dropWaiting(long time.Duration) int {
	before := c.now().Add(-long).UnixNano()
	return c.drop(func(k *knownConn) bool { return k.asked.Load() > k.heard.Load() && k.asked.Load() < before })
}

func (c *conns) drop(dead func(*knownConn) bool) int {
	c.mu.Lock()
	var silent []*knownConn
	for k := range c.open {
		if dead(k) {
			silent = append(silent, k)
		}
	}
	c.mu.Unlock()
	for _, k := range silent {
		_ = k.Close() // it is dead
	}
	return len(silent)
}

// knownConn is a connection that remembers when it heard of the server, and says when
// it is closed.
type knownConn struct {
	net.Conn
	of    *conns
	heard atomic.Int64 // when the server was heard last, ns
	asked atomic.Int64 // when it was asked first since then, ns
}

// Read implements net.Conn.
func (k *knownConn) Read(b []byte) (int, error) {
	n, err := k.Conn.Read(b)
	if n > 0 {
		k.heard.Store(k.of.now().UnixNano())
	}
	return n, err
}

// Write implements net.Conn.
func (k *knownConn) Write(b []byte) (int, error) {
	if k.asked.Load() <= k.heard.Load() {
		k.asked.Store(k.of.now().UnixNano())
	}
	return k.Conn.Write(b)
}

// Close implements net.Conn.
func (k *knownConn) Close() error {
	k.of.mu.Lock()
	delete(k.of.open, k)
	k.of.mu.Unlock()
	return k.Conn.Close()
}

// SyscallConn lets the driver look whether the server has closed the connection.
func (k *knownConn) SyscallConn() (syscall.RawConn, error) {
	if c, ok := k.Conn.(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
