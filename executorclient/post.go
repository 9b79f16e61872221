package executorclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// answer is what came back from one POST.
type answer struct {
	reply  protocol.Reply // when err is nil
	status int            // HTTP status, 0 when there was no response
	sent   bool           // something may have reached the executor
	err    error          // no readable answer
}

// timeoutError is a context.DeadlineExceeded that says how long the wait was.
type timeoutError time.Duration

func (e timeoutError) Error() string { return fmt.Sprintf("no answer within %s", time.Duration(e)) }
func (e timeoutError) Unwrap() error { return context.DeadlineExceeded }

// post makes one call, and another one when the executor certainly did nothing as the
// token is not its own and there is one from before. It is remembered who wants that one.
func (c *Client) post(ctx context.Context, address, name string, body any, limit int64) answer {
	old := c.tokens.Old(c.now())
	first, second := c.tokens.Current, old
	wantsOld := old != "" && c.old.has(address)
	if wantsOld {
		first, second = second, first
	}
	a := c.postWith(ctx, first, address, name, body, limit)
	if old == "" || !a.wrongToken() {
		return a
	}
	if again := c.postWith(ctx, second, address, name, body, limit); !again.wrongToken() {
		c.old.set(address, !wantsOld)
		return again
	}
	return a
}

// wrongToken reports whether the executor says that it did nothing as the token is wrong.
// A gateway that speaks is none.
func (a answer) wrongToken() bool {
	return a.err == nil && a.status != http.StatusBadGateway && a.status != http.StatusGatewayTimeout && protocol.WrongToken(a.reply.Code, a.reply.Msg)
}

// oldTokens are the addresses that took the previous token last.
type oldTokens struct {
	mu sync.Mutex
	m  map[string]bool
}

// mostOld bounds them; the others are asked twice.
const mostOld = 10_000

func (o *oldTokens) has(address string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.m[address]
}

func (o *oldTokens) set(address string, old bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !old:
		delete(o.m, address)
	case len(o.m) < mostOld:
		if o.m == nil {
			o.m = map[string]bool{}
		}
		o.m[address] = true
	}
}

// WantOldToken lists the addresses that refuse the current token and take the previous one.
func (c *Client) WantOldToken() []string {
	c.old.mu.Lock()
	defer c.old.mu.Unlock()
	return slices.Sorted(maps.Keys(c.old.m))
}

// postWith makes exactly one call. HTTP 4xx and 5xx are decoded like 200: several
// clients mirror their code in the status (reference: protocol.md 8.4).
func (c *Client) postWith(ctx context.Context, token, address, name string, body any, limit int64) answer {
	target, err := endpoint(address, name)
	if err != nil {
		return answer{err: err}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return answer{err: err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, timeoutError(c.timeout))
	defer cancel()

	var sent atomic.Bool
	req, err := http.NewRequestWithContext(traced(ctx, &sent), http.MethodPost, target, bytes.NewReader(data))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Content-Type", "application/json;charset=UTF-8")
	if token != "" {
		req.Header.Set(protocol.HeaderToken, token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{sent: sent.Load(), err: plain(ctx, err)}
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, sent: true}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		a.err = fmt.Errorf("HTTP %d, the answer broke off: %w", resp.StatusCode, plain(ctx, err))
	case int64(len(raw)) > limit:
		a.err = fmt.Errorf("HTTP %d, the answer is larger than %d bytes", resp.StatusCode, limit)
	default:
		if a.reply, err = protocol.ParseReply(raw); err != nil {
			a.err = fmt.Errorf("HTTP %d, %w: %s", resp.StatusCode, err, cutTo(string(raw), 200))
		}
	}
	return a
}

// traced notes in sent whether the request got a connection. From there on the
// transport may write at any moment, even after the call has returned, so a
// hook on the writing itself would be too late. The transport asks for another
// connection only when it is certain that nothing was written on the first.
func traced(ctx context.Context, sent *atomic.Bool) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { sent.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})
}

// outcome judges the answer to run.
func outcome(a answer) Outcome {
	switch {
	case a.err != nil && !a.sent:
		return unreachable(a.err)
	case a.err != nil && refusing(a.status):
		return Outcome{State: Refused, Code: protocol.CodeFail, Msg: cut(a.err.Error()), Err: a.err}
	case a.err != nil:
		return unknown(a.err)
	case a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout:
		// A gateway speaks, and it had passed the run on.
		return unknown(fmt.Errorf("HTTP %d, code %d: %s", a.status, a.reply.Code, a.reply.Msg))
	case a.reply.Code != protocol.CodeSuccess:
		return Outcome{State: Refused, Code: a.reply.Code, Msg: cut(a.reply.Msg), Said: a.reply.Said}
	case a.status/100 != 2:
		return unknown(fmt.Errorf("HTTP %d although the answer says code 200", a.status))
	}
	return Outcome{State: Accepted, Code: protocol.CodeSuccess, Msg: cut(a.reply.Msg)}
}

// refusing reports whether the bare HTTP status proves that the request was not
// carried out: the server is another one, wants a log-in or knows no such path.
func refusing(status int) bool {
	switch status {
	case http.StatusRequestTimeout:
		return false
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return status/100 == 4
}

// endpoint appends the name to the address and keeps any path prefix: executors
// compare the path as a whole (reference: protocol.md 1.3).
func endpoint(address, name string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return "", fmt.Errorf("bad address: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.ContainsAny(address, "?#") {
		return "", fmt.Errorf("bad address %q: want http://host:port/ or https://host:port/", u.Redacted())
	}
	return strings.TrimRight(address, "/") + "/" + name, nil
}

// plain takes the URL, which the caller knows, out of the error and replaces
// the bland word on a time-out by its cause.
func plain(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}
