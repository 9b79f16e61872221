package channel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

// Why a Send failed, for Error.Reason.
const (
	Refused   = "refused"   // the other side answered no
	Unclear   = "unclear"   // its answer cannot be read
	Redirect  = "redirect"  // it sent us elsewhere, where we do not go
	Internal  = "internal"  // the address is internal and not allowed
	NoConnect = "connect"   // name, connection or certificate
	TooSlow   = "slow"      // no answer in time
	Cancelled = "cancelled" // the caller gave up
)

var (
	errTooSlow  = errors.New("no answer in time")
	errRedirect = errors.New("the address answers with a redirect, which is not followed")
)

// Error says why a message was not told, or not known to be.
type Error struct {
	Reason string
	Code   int    // of the answer, HTTP status or the code in the body; 0 without one
	Text   string // the answer's words, cleaned, without the token
	// Permanent: the same message would be refused again until somebody changes the
	// settings: stop.
	Permanent bool
	// RetryAfter is how long the other side wants to be left alone; 0 = it did not say.
	RetryAfter time.Duration
	Err        error // what happened, when it was no answer; contains no address with a token
}

// Error tells reason and answer. It never contains a token or a secret.
func (e *Error) Error() string {
	switch {
	case e.Code != 0:
		return fmt.Sprintf("channel: %s: %d %s", e.Reason, e.Code, e.Text)
	case e.Err != nil:
		return fmt.Sprintf("channel: %s: %s", e.Reason, e.Err)
	}
	return "channel: " + e.Reason
}

// Unwrap gives Err.
func (e *Error) Unwrap() error { return e.Err }

// noAnswer makes an Error of what the HTTP client says. It names the URL, which
// carries the token, so that only what is inside is kept.
func noAnswer(ctx context.Context, err error) *Error {
	for u, ok := errors.AsType[*url.Error](err); ok; u, ok = errors.AsType[*url.Error](err) {
		err = u.Err
	}
	e := &Error{Reason: NoConnect, Err: err}
	if blocked, ok := errors.AsType[*blockedError](err); ok {
		return &Error{Reason: Internal, Permanent: true, Err: blocked}
	}
	if ctx.Err() != nil {
		e.Err, e.Reason = context.Cause(ctx), Cancelled
		if errors.Is(e.Err, errTooSlow) || errors.Is(e.Err, context.DeadlineExceeded) {
			e.Reason = TooSlow
		}
		return e
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		e.Reason, e.Err = TooSlow, errTooSlow
	}
	return e
}

// CheckError says what is wrong with a target, for a form.
type CheckError struct {
	Field string // kind, url or secret
	Code  string // one of the Check… codes
}

// Codes of a CheckError.
const (
	CheckKind      = "kind"       // not one of Kinds
	CheckMissing   = "missing"    // the field is empty
	CheckForm      = "form"       // cannot be read as an address
	CheckScheme    = "scheme"     // https is wanted
	CheckHost      = "host"       // the host is missing or no name
	CheckToken     = "token"      // the part that is secret is missing in the address, or is of another form
	CheckLong      = "long"       // over 2000 characters
	CheckSecret    = "secret"     // the secret is not of its form
	CheckRetired   = "retired"    // an address of a service that has ended
	CheckOneChat   = "one_chat"   // exactly one chat can be told
	CheckOtherKind = "other_kind" // the address belongs to another kind
	CheckInternal  = "internal"   // an internal address that is not allowed; from Sender.Check only
)

// Error names field and code.
func (e *CheckError) Error() string {
	return fmt.Sprintf("channel: %s: %s", e.Field, e.Code)
}
