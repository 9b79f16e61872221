//go:build !linux

package app

// keepPrivate does nothing: only Linux can close a process to its own user.
func keepPrivate() error { return nil }
