// Package config holds what the rooms of the scheduler are told from outside.
package config

import (
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Config says how the loops behave. Zero values take the defaults given here.
type Config struct {
	// NodeName must be unique among the living nodes of one database.
	NodeName string
	// Version is shown beside the node.
	Version string
	// URL is where the node answers, shown beside it.
	URL string
	// Location is the zone in which cron expressions without a zone are read.
	Location *time.Location
	Logger   *slog.Logger
	// Now is the clock at the edge of the loops; default time.Now.
	Now func() time.Time

	// Troubles says what else is wrong with this node; it must answer at once. May be nil.
	Troubles func(now time.Time) []model.NodeTrouble

	Horizon        time.Duration // how far ahead is planned; default 5 s
	MisfireAfter   time.Duration // later fires are misfires, unless their job says otherwise; default 5 s
	TakeoverWindow time.Duration // later planned runs fall under the misfire rule; default 60 s
	NodeDeadAfter  time.Duration // without a beat; default 4 s
	SendTimeout    time.Duration // one call to an executor; default 3 s
	LostAfter      time.Duration // runs that nobody can tell anything about are given up; default 10 min
	RegistryDead   time.Duration // registrations without a beat; default 90 s
	DrainTimeout   time.Duration // for calls in flight at stop; default 10 s
	RetentionDays  int           // 0 = runs are kept for ever

	PlanPage       int // jobs per planning transaction; default 500
	RingCapacity   int // runs in memory; the rest waits on disk; default 20000
	FastWorkers    int // default 512
	SlowWorkers    int // default 64
	AddressLimit   int // runs being sent to one address at a time; default 128
	SlowThreshold  time.Duration
	SlowPerMinute  int
	MaxMissedRows  int // rows written for one job's misfires at once, the rest in one; default 1000
	ProbeParallel  int // executors asked at a time; default 16
	RetentionBatch int // default 1000
}

// WithDefaults fills in what is not set.
func (c Config) WithDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	defN := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	if c.Location == nil {
		c.Location = time.Local
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	def(&c.Horizon, 5*time.Second)
	def(&c.MisfireAfter, 5*time.Second)
	def(&c.TakeoverWindow, time.Minute)
	def(&c.NodeDeadAfter, model.NodeDeadAfter)
	def(&c.SendTimeout, 3*time.Second)
	def(&c.LostAfter, 10*time.Minute)
	def(&c.RegistryDead, 90*time.Second)
	def(&c.DrainTimeout, 10*time.Second)
	def(&c.SlowThreshold, 500*time.Millisecond)
	defN(&c.SlowPerMinute, 10)
	defN(&c.PlanPage, 500)
	defN(&c.RingCapacity, 20000)
	defN(&c.FastWorkers, 512)
	defN(&c.SlowWorkers, 64)
	defN(&c.AddressLimit, 128)
	defN(&c.MaxMissedRows, 1000)
	defN(&c.ProbeParallel, 16)
	defN(&c.RetentionBatch, 1000)
	return c
}
