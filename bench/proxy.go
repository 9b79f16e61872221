package main

import (
	"net"
	"strings"
	"sync"
	"sync/atomic"
)

// proxy stands between one node and the database, so that the connection can be
// hurt without touching either.
type proxy struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	cut     bool
	links   map[*link]bool
	commits int // every so many commits lose their answer; 0 = none
	seen    int // commits since then
	done    sync.WaitGroup
}

// link is one connection of the node and the one to the database that belongs to it.
type link struct {
	in, out net.Conn
	doomed  atomic.Bool // ends with the next answer, which is not passed on
	silent  atomic.Bool // nothing passes any more, not even an end
}

func (l *link) close() { _, _ = l.in.Close(), l.out.Close() }

func newProxy(target string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, target: target, links: map[*link]bool{}}
	p.done.Go(p.accept)
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.done.Go(func() { p.pass(in) })
	}
}

func (p *proxy) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	l := &link{in: in, out: out}
	defer l.close()
	if !p.keep(l) {
		return
	}
	defer p.drop(l)
	var both sync.WaitGroup
	both.Go(func() { p.forward(l, l.out, l.in, true) })
	both.Go(func() { p.forward(l, l.in, l.out, false) })
	both.Wait()
}

// forward passes on what one side says until it ends.
func (p *proxy) forward(l *link, to, from net.Conn, asks bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		switch {
		case l.silent.Load():
			if err != nil {
				return // the other side does not hear of it
			}
			continue
		case err != nil:
			l.close()
			return
		case asks && isCommit(buf[:n]) && p.losesAnswer():
			l.doomed.Store(true)
		case !asks && l.doomed.Load():
			l.close()
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			l.close()
			return
		}
	}
}

// isCommit knows the packet with which clients of MySQL commit.
func isCommit(packet []byte) bool {
	const head, query = 4, 3
	return len(packet) == head+1+len("COMMIT") && packet[head] == query && strings.EqualFold(string(packet[head+1:]), "COMMIT")
}

func (p *proxy) losesAnswer() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.commits == 0 {
		return false
	}
	p.seen++
	return p.seen%p.commits == 0
}

func (p *proxy) keep(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		return false
	}
	p.links[l] = true
	return true
}

func (p *proxy) drop(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// set cuts the connection or mends it. What was connected is closed at once.
func (p *proxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	if cut {
		for l := range p.links {
			l.close()
		}
	}
}

// loseCommits lets the answer to every n-th commit get lost, and the connection
// with it: the database has done it and nobody knows. 0 mends it.
func (p *proxy) loseCommits(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits, p.seen = n, 0
}

// silence lets what is connected die without a sign, as when a firewall forgets its
// connections; new ones work.
func (p *proxy) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.silent.Store(true)
	}
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.set(true)
	p.done.Wait()
}
