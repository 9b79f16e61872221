package app

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// checkPprof refuses to show the inside of the process to a network.
func (c *ServeCmd) checkPprof() error {
	if c.Pprof == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.Pprof)
	if ip := net.ParseIP(host); err != nil || (host != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return fmt.Errorf("--pprof %q: give a loopback address such as 127.0.0.1:6060", c.Pprof)
	}
	return nil
}

// servePprof answers until the returned function is called; without an address
// it does nothing.
func servePprof(address string) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s for the profiler: %w", address, errors.Unwrap(err))
	}
	m := http.NewServeMux()
	m.HandleFunc("/debug/pprof/", pprof.Index)
	m.HandleFunc("/debug/pprof/profile", pprof.Profile)
	m.HandleFunc("/debug/pprof/trace", pprof.Trace)
	s := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }()
	return s.Close, nil
}
