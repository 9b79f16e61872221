package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usage is what a process has used.
type usage struct {
	cpu  float64 // seconds
	rss  int     // MB now
	peak int     // MB
}

// used reads the figures of a process from /proc; zero elsewhere.
func used(pid int) usage {
	var u usage
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		if f := strings.Fields(string(b)[strings.LastIndex(string(b), ")")+1:]); len(f) > 12 {
			user, _ := strconv.ParseFloat(f[11], 64)
			system, _ := strconv.ParseFloat(f[12], 64)
			u.cpu = (user + system) / 100 // clock ticks
		}
	}
	kb := func(key string) (n int) {
		_, _ = fmt.Sscanf(firstLine(fmt.Sprintf("/proc/%d/status", pid), key), "%d kB", &n)
		return n
	}
	u.rss, u.peak = kb("VmRSS")>>10, kb("VmHWM")>>10
	return u
}

// percentile sorts the list and gives its value at p of 100; zero of none.
func percentile(list []time.Duration, p int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(len(list)-1, len(list)*p/100)]
}
