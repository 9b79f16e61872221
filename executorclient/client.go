// Package executorclient calls executors over the wire: run, beat, idleBeat,
// kill and log, in generations G2 and G3 (reference: protocol.md 2). Its point
// is to be exact about what is known after a call to run: accepted, refused or
// unknown. It never repeats a call on its own account and never chooses among
// executors.
package executorclient

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// DefaultTimeout bounds one call, from dialling to the last byte of the answer
// (reference: protocol.md 1.2).
const DefaultTimeout = 3 * time.Second

// Largest answers that are read, in bytes.
const (
	maxAnswer = 1 << 20
	maxLog    = 5 << 20
)

// Options of a Client. The zero value works for executors without a token.
type Options struct {
	Token string // sent as XXL-JOB-ACCESS-TOKEN unless empty
	// Previous is the token before the current one. Executors that refuse the current one
	// are asked again with it until Until; "" = none.
	Previous    string
	Until       time.Time
	Now         func() time.Time // default time.Now
	Timeout     time.Duration    // of one call; DefaultTimeout when 0
	HTTP        *http.Client     // own transport; InsecureTLS then has no effect
	InsecureTLS bool             // accept any certificate on https addresses
}

// Client calls executors. It is safe for concurrent use.
type Client struct {
	tokens  protocol.Tokens
	now     func() time.Time
	old     oldTokens
	timeout time.Duration
	http    *http.Client
}

// New builds a client. Proxies of the environment are not used: executors are
// neighbours.
func New(o Options) *Client {
	c := &Client{tokens: protocol.Tokens{Current: o.Token, Previous: o.Previous, Until: o.Until}, now: o.Now, timeout: o.Timeout, http: &http.Client{}}
	if c.now == nil {
		c.now = time.Now
	}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if o.HTTP != nil {
		*c.http = *o.HTTP
	} else {
		c.http.Transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: c.timeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: c.timeout,
			MaxIdleConns:        1024,
			MaxIdleConnsPerHost: 128, // at least the runs in flight to one address, else connections churn
			// Executors close an idle connection after 90 s; whoever waits as
			// long reads random EOFs (reference: protocol.md 1.2).
			IdleConnTimeout:    45 * time.Second,
			DisableCompression: true,
			// There are many connections; requests and answers are short.
			WriteBufferSize:        2 << 10,
			ReadBufferSize:         2 << 10,
			MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig:        &tls.Config{InsecureSkipVerify: o.InsecureTLS}, //nolint:gosec // asked for by option only
		}
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Close drops the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Run hands a run to the executor at the address. Negative numbers in the
// trigger are sent as 0 and a broadcast total below 1 as 1, because several
// executors refuse the whole trigger otherwise (reference: protocol.md 2.3).
func (c *Client) Run(ctx context.Context, address string, t protocol.Trigger) Outcome {
	for _, n := range []*int64{&t.TimeoutSec, &t.LogDateTime, &t.GlueUpdateTime, &t.BroadcastIndex} {
		*n = max(*n, 0)
	}
	t.BroadcastTotal = max(t.BroadcastTotal, 1)
	return outcome(c.post(ctx, address, "run", t, maxAnswer))
}

// AnswerError is a readable answer with another code than 200.
type AnswerError struct {
	Code int
	Msg  string // at most 1000 bytes
}

// Error gives code and message.
func (e *AnswerError) Error() string { return fmt.Sprintf("executor answered %d: %s", e.Code, e.Msg) }

// Beat asks whether the executor is alive. An executor that answers another
// code than 200 gives an *AnswerError.
func (c *Client) Beat(ctx context.Context, address string) error {
	_, err := c.Ping(ctx, address)
	return err
}

// Ping is Beat with what the executor says of itself; nil when it says nothing.
func (c *Client) Ping(ctx context.Context, address string) (*protocol.About, error) {
	// Not an empty body: some middlewares need JSON (reference: protocol.md 2.1).
	r, err := c.call(ctx, address, "beat", struct{}{}, maxAnswer)
	return r.About, err
}

// IdleBeat asks whether the job neither runs nor waits on that executor and gives its
// words. Code 500 means busy and is no error, unless the executor refuses the caller:
// it uses the same code for that.
func (c *Client) IdleBeat(ctx context.Context, address string, jobID int64) (idle bool, msg string, err error) {
	r, err := c.call(ctx, address, "idleBeat", protocol.IdleBeat{JobID: jobID}, maxAnswer)
	return busyOr(r, err)
}

// busyOr reads the answer to a question whether somebody is idle.
func busyOr(r protocol.Reply, err error) (idle bool, msg string, _ error) {
	if a, ok := errors.AsType[*AnswerError](err); ok && a.Code == protocol.CodeFail && !protocol.WrongToken(a.Code, a.Msg) {
		return false, a.Msg, nil
	}
	return err == nil, r.Msg, err
}

// GlobalIdleBeat asks whether no job at all runs or waits on that executor. Code
// 500 means busy and is no error, unless the executor says that it does not know
// the question: only our SDK does (reference: protocol.md has no such call).
func (c *Client) GlobalIdleBeat(ctx context.Context, address string) (idle bool, msg string, err error) {
	r, err := c.call(ctx, address, "globalIdleBeat", struct{}{}, maxAnswer)
	if a, ok := errors.AsType[*AnswerError](err); ok && a.Code == protocol.CodeFail && strings.Contains(a.Msg, "globalIdleBeat") {
		// "uri-mapping(/globalIdleBeat) not found" and the like
		return false, "", fmt.Errorf("the executor does not know globalIdleBeat: %w", err)
	}
	return busyOr(r, err)
}

// Kill stops the running and the waiting runs of a job on that executor and
// gives the executor's remark, which may be empty. Executors disagree on
// whether it is an error when nothing runs (reference: protocol.md 2.4).
func (c *Client) Kill(ctx context.Context, address string, jobID int64) (msg string, err error) {
	r, err := c.call(ctx, address, "kill", protocol.Kill{JobID: jobID}, maxAnswer)
	return r.Msg, err
}

// Log reads the log of a run from a line on. The time may be given under
// either key.
func (c *Client) Log(ctx context.Context, address string, req protocol.LogRequest) (protocol.LogResult, error) {
	req.LogDateTim, req.LogDateTime = req.Time(), req.Time()
	var res protocol.LogResult
	r, err := c.call(ctx, address, "log", req, maxLog)
	if err != nil {
		return res, err
	}
	if r.Value == nil {
		return res, errors.New("executor answered without a log: it does not seem to keep one")
	}
	if err := json.Unmarshal(r.Value, &res); err != nil {
		return protocol.LogResult{}, fmt.Errorf("executor answered no log: %w", err)
	}
	return res, nil
}

// call is post for everything but run: any code but 200 is an error.
func (c *Client) call(ctx context.Context, address, name string, body any, limit int64) (protocol.Reply, error) {
	a := c.post(ctx, address, name, body, limit)
	switch {
	case a.err != nil:
		return protocol.Reply{}, a.err
	case a.reply.Code != protocol.CodeSuccess:
		return protocol.Reply{}, &AnswerError{Code: a.reply.Code, Msg: cut(a.reply.Msg)}
	case a.status/100 != 2:
		return protocol.Reply{}, fmt.Errorf("HTTP %d although the answer says code 200", a.status)
	}
	a.reply.Msg = cut(a.reply.Msg)
	return a.reply, nil
}
