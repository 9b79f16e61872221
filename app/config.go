// Package app puts the parts of the center together: configuration, start and
// stop order, and the commands. It holds no business rules.
package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/protocol"
)

// CLI is the command line. It is the one place for flags, their environment
// variables (CARILLON_ + upper-case name), defaults and help.
type CLI struct {
	LogFormat string `help:"Format of the program's own log." enum:"text,json" default:"text"`
	LogLevel  string `help:"Least severe lines to log; auto = info, of the demo error." enum:"auto,debug,info,warn,error" default:"auto"`

	Serve       ServeCmd       `cmd:"" help:"Run the scheduling center."`
	Demo        DemoCmd        `cmd:"" help:"Run a center and a sample executor with sample jobs, to have a look."`
	Executor    ExecutorCmd    `cmd:"" help:"Run the sample executor: demo handlers, shell and Python scripts."`
	Migrate     MigrateCmd     `cmd:"" help:"Bring the database schema up to date, or look at it."`
	Recount     RecountCmd     `cmd:"" help:"Count the days of reports anew from their runs."`
	Nodes       NodesCmd       `cmd:"" help:"List the nodes that share a database: who lives, who plans, lateness, backlog."`
	Export      ExportCmd      `cmd:"" help:"Write jobs as YAML."`
	Import      ImportCmd      `cmd:"" help:"Make jobs as a file says: YAML of ours, or JSON and SQL of xxl-job-admin."`
	User        UserCmd        `cmd:"" help:"Look after console accounts."`
	Healthcheck HealthcheckCmd `cmd:"" help:"Exit with 0 when a center answers at the address."`
	Version     VersionCmd     `cmd:"" help:"Print the version."`
}

// DatabaseFlags say where the data is.
type DatabaseFlags struct {
	Database string `help:"sqlite:PATH or mysql://user:password@host:3306/name (MySQL 8+, MariaDB 10.6+)." default:"sqlite:carillon.db"`
	Timezone string `help:"Zone of cron expressions and of stored times: Local or a name such as Asia/Shanghai." default:"Local"`
}

// ServeCmd is the configuration of a center.
type ServeCmd struct {
	Listen              string `help:"Address to listen on." default:"127.0.0.1:8080"`
	DatabaseFlags       `embed:""`
	AccessToken         string   `help:"Secret shared with the executors and API callers; required." placeholder:"TOKEN"`
	PreviousAccessToken string   `help:"The access token before this one, while executors and scripts change over; needs --previous-token-until." placeholder:"TOKEN"`
	PreviousTokenUntil  string   `help:"Until when the previous token counts: 2026-12-01 18:00 in the zone of the center, or with an offset as in 2026-12-01T18:00:00+08:00." placeholder:"TIME"`
	AdminPassword       string   `help:"Password of the first administrator; made up and printed once when empty." placeholder:"PASSWORD"`
	BasePath            string   `help:"Path below which the console lives." default:"/"`
	Lang                string   `help:"Language for people whose browser asks for none of ours." enum:"zh-Hans,zh-Hant,en" default:"zh-Hans"`
	LegacyConsole       bool     `help:"Answer at the addresses and JSON calls of xxl-job-admin's console, for bookmarks and scripts." default:"true" negatable:""`
	Migrate             bool     `help:"Bring the schema up to date at start; without it an old schema is refused." default:"true" negatable:""`
	NodeName            string   `help:"Name of this node, unique among those that share the database; host name and port when empty." placeholder:"NAME"`
	PublicURL           string   `help:"Address of the console as people and executors reach it, when a proxy stands before it." placeholder:"URL"`
	RetentionDays       int      `help:"Days for which runs are kept; 0 = for ever." default:"30"`
	TrustProxy          []string `help:"Addresses or networks of the proxies before the center, separated by commas: theirs is the word on the address of a client (X-Forwarded-For)." placeholder:"ADDRESS"`

	SmtpURL  string `help:"Mail server for alarms: smtp://user:password@host:port?tls=starttls|tls|none; without it nobody gets a mail." placeholder:"URL"`
	MailFrom string `help:"Sender of mails, such as Carillon <carillon@example.org>; needed with --smtp-url." placeholder:"ADDRESS"`

	HeartbeatURL  string   `help:"Address outside that is called each minute while the center schedules, so that its silence is heard (Healthchecks and the like)." placeholder:"URL"`
	DiskFullAt    int      `help:"Percent at which the disk of a database that is a file counts as nearly full; 0 = it is not watched." default:"90"`
	AllowInternal []string `help:"Addresses or networks inside that channels of alarms may call; only those of the internet otherwise." placeholder:"NETWORK"`

	MisfireAfter    time.Duration `help:"Fires later than this fall under the misfire strategy of their job, unless the job has a threshold of its own." default:"5s"`
	NodeDeadAfter   time.Duration `help:"A node without a beat for so long is dead: the others take its runs over. The same for all nodes of a database." default:"4s"`
	RegistryTimeout time.Duration `help:"An executor address without a beat for so long is removed. Executors that beat every 60 s (DotXxlJob) need 150s to survive a lost beat." default:"90s"`
	ExecutorTimeout time.Duration `help:"Longest wait for an executor's answer." default:"3s"`
	Pprof           string        `help:"Loopback address where Go's profiler answers under /debug/pprof/; off when empty." placeholder:"HOST:PORT"`
	InsecureTLS     bool          `help:"Do not check the certificates of https executors." name:"insecure-tls"`
}

// validate checks what the flag parser cannot. Errors are for people.
func (c *ServeCmd) validate() error {
	if strings.TrimSpace(c.AccessToken) == "" {
		return errors.New("no access token: set --access-token or CARILLON_ACCESS_TOKEN to a secret that the executors know")
	}
	if strings.ContainsAny(c.AccessToken, "\r\n") {
		return errors.New("the access token must be one line")
	}
	if _, err := c.tokens(); err != nil {
		return err
	}
	if n := len(c.AdminPassword); n != 0 && (n < 8 || n > 72) {
		return errors.New("--admin-password must have 8 to 72 characters")
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("--listen %q: give host:port, for example 127.0.0.1:8080", c.Listen)
	}
	if err := c.checkBasePath(); err != nil {
		return err
	}
	if err := c.checkNodeName(); err != nil {
		return err
	}
	if _, err := c.proxies(); err != nil {
		return err
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("--public-url %q: give http://host or https://host", c.PublicURL)
		}
	}
	if (c.SmtpURL == "") != (c.MailFrom == "") {
		return errors.New("--smtp-url and --mail-from belong together")
	}
	if c.RetentionDays < 0 || c.RetentionDays > 36500 {
		return fmt.Errorf("--retention-days %d: give 0 to 36500", c.RetentionDays)
	}
	if c.RegistryTimeout < 5*time.Second || c.ExecutorTimeout < 100*time.Millisecond {
		return errors.New("--registry-timeout must be at least 5s and --executor-timeout at least 100ms")
	}
	if c.NodeDeadAfter != 0 && (c.NodeDeadAfter < 2*time.Second || c.NodeDeadAfter > 10*time.Minute) {
		return errors.New("--node-dead-after must be between 2s and 10m")
	}
	if n := len(c.nodeName()); n > 100 || !utf8.ValidString(c.nodeName()) || strings.ContainsAny(c.nodeName(), "#\r\n\t") || strings.TrimSpace(c.nodeName()) != c.nodeName() {
		return fmt.Errorf("--node-name: give at most 100 characters without # and without blanks at the ends (it has %d)", n)
	}
	if err := c.checkPprof(); err != nil {
		return err
	}
	if c.MisfireAfter != 0 && (c.MisfireAfter < time.Second || c.MisfireAfter > 24*time.Hour) {
		return errors.New("--misfire-after must be between 1s and 24h")
	}
	_, err := c.location()
	return err
}

// tokens are the current access token and, for a while, the one before it.
func (c *ServeCmd) tokens() (protocol.Tokens, error) {
	t := protocol.Tokens{Current: c.AccessToken}
	if c.PreviousAccessToken == "" && c.PreviousTokenUntil == "" {
		return t, nil
	}
	switch {
	case strings.TrimSpace(c.PreviousAccessToken) == "" || c.PreviousTokenUntil == "":
		return t, errors.New("--previous-access-token and --previous-token-until belong together: an old token must end some day")
	case strings.ContainsAny(c.PreviousAccessToken, "\r\n"):
		return t, errors.New("the previous access token must be one line")
	case c.PreviousAccessToken == c.AccessToken:
		return t, errors.New("the previous access token is the current one")
	}
	loc, err := c.location()
	if err != nil {
		return t, err
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, strings.TrimSpace(c.PreviousTokenUntil), loc); err == nil {
			t.Previous, t.Until = c.PreviousAccessToken, at
			return t, nil
		}
	}
	return t, fmt.Errorf("--previous-token-until %q: give a time such as 2026-12-01 18:00", c.PreviousTokenUntil)
}

// location reads the zone.
func (c *DatabaseFlags) location() (*time.Location, error) {
	if c.Timezone == "" || c.Timezone == "Local" {
		return time.Local, nil
	}
	loc, err := time.LoadLocation(c.Timezone)
	if err != nil {
		return nil, fmt.Errorf("--timezone %q is not known: give Local or a name such as Asia/Shanghai", c.Timezone)
	}
	return loc, nil
}

// LogValue is what may be logged of the configuration: no secrets.
func (c *ServeCmd) LogValue() slog.Value {
	database := c.Database
	if u, err := url.Parse(database); err == nil {
		database = u.Redacted()
	} else {
		database, _, _ = strings.Cut(database, ":")
	}
	return slog.GroupValue(
		slog.String("listen", c.Listen), slog.String("database", database), slog.String("timezone", c.Timezone),
		slog.String("base_path", c.BasePath), slog.String("lang", c.Lang), slog.String("node", c.nodeName()),
		slog.Int("retention_days", c.RetentionDays),
	)
}

// nodeName is unique on a machine because two processes cannot share a port.
func (c *ServeCmd) nodeName() string {
	if c.NodeName != "" {
		return c.NodeName
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(c.Listen)
	return host + ":" + port
}
