package store

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// conns knows the network connections of a pool, so that those that have died in
// silence can be dropped: a firewall that lost its state answers nothing, and whoever
// waits for an answer waits until its time-out.
type conns struct {
	mu     sync.Mutex
	open   map[net.Conn]uint64 // by their number in the order of dialling
	dialed uint64
}

func newConns() *conns { return &conns{open: map[net.Conn]uint64{}} }

// dial connects; the connection is known until it is closed.
func (c *conns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAlive: 10 * time.Second}
	nc, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	k := &knownConn{Conn: nc, of: c}
	c.mu.Lock()
	c.dialed++
	c.open[k] = c.dialed
	c.mu.Unlock()
	return k, nil
}

// mark is the number of the last connection that was dialled.
func (c *conns) mark() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dialed
}

// dropUpTo closes what was dialled up to the mark. Whoever waits on one of them gets an
// error at once and dials anew.
func (c *conns) dropUpTo(mark uint64) int {
	c.mu.Lock()
	var old []net.Conn
	for nc, number := range c.open {
		if number <= mark {
			old = append(old, nc)
		}
	}
	c.mu.Unlock()
	for _, nc := range old {
		_ = nc.Close() // it is dead
	}
	return len(old)
}

// knownConn is a connection that says when it is closed.
type knownConn struct {
	net.Conn
	of *conns
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
