package model

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// ReportMail is a report that goes out by mail.
type ReportMail struct {
	ID   int
	Name string
	ReportMailSettings
	NextMS int64 // when it goes out next, epoch ms
	LastMS int64 // when it did last; 0 = never
}

// ReportMailSettings is what an administrator says of a report. It is stored as JSON.
type ReportMailSettings struct {
	Kind string `json:"kind"` // day, week or month: the last one that is over
	// At is the time of day at which it goes out in Zone, as 08:00; Weekday, 1 = Monday, of a
	// weekly one, MonthDay, 1 to 28, of a monthly one.
	At       string   `json:"at"`
	Zone     string   `json:"zone,omitempty"` // "" = that of the center
	Weekday  int      `json:"weekday,omitempty"`
	MonthDay int      `json:"monthDay,omitempty"`
	Language string   `json:"language,omitempty"` // "" = that of the center
	To       []string `json:"to"`
	GroupID  int      `json:"executor,omitempty"`
	Owner    string   `json:"owner,omitempty"`
	Tag      string   `json:"tag,omitempty"`
	// OnlyTrouble leaves it out when nothing was lost and no incident is open.
	OnlyTrouble bool `json:"onlyTrouble,omitempty"`
	Off         bool `json:"off,omitempty"`
}

// ReportKey names one report to one address: it is written down once, whatever clocks do.
// It is the Dedup of its Message.
func ReportKey(id int, kind, first, address string) string {
	if len(address) > 120 { // keys have 200 characters
		address = fmt.Sprintf("%x", sha256.Sum256([]byte(address)))
	}
	return fmt.Sprintf("report:%d:%s:%s:%s", id, kind, first, address)
}

// ParseReportKey gives what ReportKey was made of, without the address.
func ParseReportKey(key string) (id int, kind, first string, ok bool) {
	parts := strings.SplitN(key, ":", 5)
	if len(parts) != 5 || parts[0] != "report" {
		return 0, "", "", false
	}
	if _, err := fmt.Sscanf(parts[1], "%d", &id); err != nil {
		return 0, "", "", false
	}
	return id, parts[2], parts[3], true
}
