package protocol

import (
	"crypto/sha256"
	"crypto/subtle"
	"time"
)

// Tokens are the secrets that centers and executors know each other by: the current one,
// and for a while after a change the one before it.
type Tokens struct {
	Current  string
	Previous string    // "" = none
	Until    time.Time // the previous one counts before this instant
}

// Old gives the previous token while it counts.
func (t Tokens) Old(now time.Time) string {
	if !now.Before(t.Until) || t.Previous == t.Current {
		return ""
	}
	return t.Previous
}

// Accepts reports whether a caller's token is one of them, and whether it is the previous
// one. It takes as long for any token; the hashes hide their lengths.
func (t Tokens) Accepts(token string, now time.Time) (ok, old bool) {
	got, current, previous := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(t.Current)), sha256.Sum256([]byte(t.Old(now)))
	isCurrent := subtle.ConstantTimeCompare(got[:], current[:]) == 1
	isOld := subtle.ConstantTimeCompare(got[:], previous[:]) == 1 && t.Old(now) != ""
	return isCurrent || isOld, isOld && !isCurrent
}
