package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// centers calls the scheduling center, which may have several nodes.
type centers struct {
	urls    []string // without trailing slash
	token   string
	appName string
	timeout time.Duration
	http    *http.Client
}

func newCenters(o Options) *centers {
	c := &centers{token: o.AccessToken, appName: o.AppName, timeout: o.CallTimeout, http: o.HTTP}
	for _, u := range o.Centers {
		c.urls = append(c.urls, strings.TrimRight(u, "/"))
	}
	if c.http == nil {
		c.http = &http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, IdleConnTimeout: 45 * time.Second, MaxIdleConnsPerHost: 4,
			TLSHandshakeTimeout: o.CallTimeout,
		}}
	}
	return c
}

// refusedError is an answer of a center with another code than 200.
type refusedError struct {
	center string
	code   int
	msg    string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("%s answered %d: %s", e.center, e.code, e.msg)
}

// first calls the centers in order until one answers 200. When at least one
// gave another answer, the error is that *refusedError.
func (c *centers) first(ctx context.Context, name string, body any) error {
	var refusal, failure error
	for _, u := range c.urls {
		err := c.post(ctx, u, name, body)
		var r *refusedError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &r):
			refusal = err
		default:
			failure = errors.Join(failure, err)
		}
	}
	if refusal != nil {
		return refusal
	}
	return failure
}

// each calls every center and gives what those said that answered 200, with the
// errors of the others.
func (c *centers) each(ctx context.Context, name string, body any) (said []protocol.Reply, err error) {
	var errs []error
	for _, u := range c.urls {
		if r, err := c.ask(ctx, u, name, body); err != nil {
			errs = append(errs, err)
		} else {
			said = append(said, r)
		}
	}
	return said, errors.Join(errs...)
}

func (c *centers) post(ctx context.Context, base, name string, body any) error {
	_, err := c.ask(ctx, base, name, body)
	return err
}

// ask calls one center; another answer than 200 is a *refusedError.
func (c *centers) ask(ctx context.Context, base, name string, body any) (r protocol.Reply, err error) {
	data, err := json.Marshal(body)
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/"+name, bytes.NewReader(data))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/json;charset=UTF-8")
	req.Header.Set(protocol.HeaderAppName, c.appName)
	if c.token != "" {
		req.Header.Set(protocol.HeaderToken, c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return r, fmt.Errorf("%s: %w", base, err)
	}
	if r, err = protocol.ParseReply(raw); err != nil {
		return r, fmt.Errorf("%s: HTTP %d: %w", base, resp.StatusCode, err)
	}
	if r.Code != protocol.CodeSuccess || resp.StatusCode/100 != 2 {
		return r, &refusedError{center: base, code: r.Code, msg: cutMsg(r.Msg)}
	}
	return r, nil
}
