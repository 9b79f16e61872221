package executor

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Options of an Executor. AppName and Centers are required.
type Options struct {
	// Centers are the base URLs of the scheduling center, such as
	// http://center:8080/xxl-job-admin. The trailing slash is optional.
	Centers []string
	// AppName is the name of the executor group in the console.
	AppName string
	// Version is that of the application, shown beside the address in the console; the
	// version of the main module when empty.
	Version string
	// AccessToken is required of every caller and sent to the centers; empty
	// means that anybody may call.
	AccessToken string

	// Listener takes the calls of the center. When nil, ListenAddr is opened.
	Listener net.Listener
	// ListenAddr defaults to 127.0.0.1:9999: to be reached from other machines
	// is a decision.
	ListenAddr string
	// Address is what the centers are told to call. It defaults to
	// http://host:port/ of the listener.
	Address string

	// DataDir holds the journal, the scripts and the logs of runs. One process
	// at a time. It defaults to executor-data/<AppName> in the working directory.
	DataDir string
	// LogRetentionDays is how long the logs of runs are kept, for ever when negative.
	// When 0 they are kept as long as the centers keep runs; with centers that do
	// not say so for 30 days.
	LogRetentionDays int
	// MaxLogBytes is where the log of one run is cut off: 64 MiB when 0.
	MaxLogBytes int64

	// BeatEvery is the time between two registrations: 30 s when 0. Centers
	// forget an executor after 90 s.
	BeatEvery time.Duration
	// CallTimeout bounds one call to a center: 3 s when 0.
	CallTimeout time.Duration
	// QueueLimit is how many runs of one job may wait: 1000 when 0.
	QueueLimit int
	// NoScripts refuses script jobs: whoever may edit those in the console can
	// run anything on this machine as the user of this process. Scripts do not
	// get CARILLON_* and other variables that hold the token; what else that user
	// can read, such as the environment of this process in /proc, they can too.
	NoScripts bool
	// KillGrace is how long a killed or timed-out run may take to end before
	// its result is reported without waiting: 5 s when 0. A script gets half of
	// it before it is killed the hard way.
	KillGrace time.Duration
	// StopTimeout is how long Run waits for running jobs after its context has
	// ended: 30 s when 0.
	StopTimeout time.Duration
	// RestartWindow is the age up to which a run that was waiting when the
	// process died is still run after a restart: 5 min when 0. Older ones are
	// reported as failed; the center gives them up after 10 min.
	RestartWindow time.Duration

	// HTTP calls the centers; a client of its own when nil.
	HTTP *http.Client
	// Logger receives what the executor itself has to say.
	Logger *slog.Logger
	// Now is the clock for time stamps and ages: time.Now when nil.
	Now func() time.Time

	retryMin, retryMax time.Duration // pause between attempts to reach a center
	timeoutUnit        time.Duration // of Trigger.TimeoutSec; shorter in tests
}

// withDefaults fills in what was left open.
func (o Options) withDefaults() Options {
	def(&o.ListenAddr, "127.0.0.1:9999")
	def(&o.DataDir, filepath.Join("executor-data", o.AppName))
	def(&o.MaxLogBytes, 64<<20)
	def(&o.BeatEvery, 30*time.Second)
	def(&o.CallTimeout, 3*time.Second)
	def(&o.QueueLimit, 1000)
	def(&o.KillGrace, 5*time.Second)
	def(&o.StopTimeout, 30*time.Second)
	def(&o.RestartWindow, 5*time.Minute)
	def(&o.retryMin, time.Second)
	def(&o.retryMax, 30*time.Second)
	def(&o.timeoutUnit, time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func def[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

func (o Options) validate() error {
	var errs []error
	if strings.TrimSpace(o.AppName) == "" || strings.ContainsAny(o.AppName, `/\`) {
		errs = append(errs, fmt.Errorf("executor: AppName %q is empty or not a name", o.AppName))
	}
	if len(o.Centers) == 0 {
		errs = append(errs, errors.New("executor: there is no center to report to"))
	}
	for _, c := range o.Centers {
		if !httpURL(c) {
			errs = append(errs, fmt.Errorf("executor: center %q is no http(s) URL", c))
		}
	}
	if o.Address != "" && !httpURL(o.Address) {
		errs = append(errs, fmt.Errorf("executor: address %q is no http(s) URL", o.Address))
	}
	for name, d := range map[string]time.Duration{
		"BeatEvery": o.BeatEvery, "CallTimeout": o.CallTimeout, "KillGrace": o.KillGrace,
		"StopTimeout": o.StopTimeout, "RestartWindow": o.RestartWindow,
	} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("executor: %s is negative", name))
		}
	}
	if o.QueueLimit < 0 || o.MaxLogBytes < 0 {
		errs = append(errs, errors.New("executor: QueueLimit or MaxLogBytes is negative"))
	}
	return errors.Join(errs...)
}

func httpURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// advertised gives the address under which others reach the listener. For a
// listener on all interfaces it is the first global IPv4 address.
func advertised(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return "http://" + a.String() + "/"
	}
	ip := tcp.IP
	if len(ip) == 0 || ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
		addrs, _ := net.InterfaceAddrs() // on error loopback stays
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
				ip = n.IP
				break
			}
		}
	}
	return "http://" + (&net.TCPAddr{IP: ip, Port: tcp.Port}).String() + "/"
}
