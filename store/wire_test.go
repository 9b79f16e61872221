package store_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire is a line to a database server that fails on command.
type wire struct {
	cutAfter atomic.Pointer[[]byte] // what a client sends with this in it is forwarded, then the line is cut
	dials    atomic.Int64

	mu   sync.Mutex
	deaf map[net.Conn]bool // by the client's end: nothing is forwarded any more
	open map[net.Conn]bool
}

// through gives the address of a database behind a new wire.
func through(t *testing.T, address string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{deaf: map[net.Conn]bool{}, open: map[net.Conn]bool{}}
	server := u.Host
	var lines sync.WaitGroup
	lines.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			w.dials.Add(1)
			s, err := net.Dial("tcp", server)
			if err != nil {
				_ = c.Close()
				continue
			}
			w.mu.Lock()
			w.open[c] = true
			w.mu.Unlock()
			lines.Go(func() { w.carry(c, s, c) })
			lines.Go(func() { w.carry(s, c, c) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		w.mu.Lock()
		for c := range w.open {
			_ = c.Close()
		}
		w.mu.Unlock()
		lines.Wait()
	})
	u.Host = ln.Addr().String()
	return w, u.String()
}

// mute makes all lines that are open now deaf: nothing is heard, nothing is closed.
func (w *wire) mute() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		w.deaf[c] = true
	}
}

func (w *wire) carry(from, to, client net.Conn) {
	defer func() {
		w.mu.Lock()
		delete(w.open, client)
		w.mu.Unlock()
		_, _ = from.Close(), to.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		deaf := w.deaf[client]
		w.mu.Unlock()
		if deaf {
			continue
		}
		if cut := w.cutAfter.Load(); cut != nil && from == client && bytes.Contains(buf[:n], *cut) && w.cutAfter.CompareAndSwap(cut, nil) {
			if _, err := to.Write(buf[:n]); err == nil {
				_, _ = io.ReadFull(to, buf[:1]) // the server has done it; its answer is lost
			}
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
