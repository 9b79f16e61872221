package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// request is what is posted.
type request struct {
	method string   // "" = POST
	path   *url.URL // nil = the endpoint's
	header map[string]string
	body   []byte
}

// response is what came back.
type response struct {
	status int
	header http.Header
	body   []byte
	now    time.Time
}

// verdict is an answer read as its maker documents it.
type verdict struct {
	ok         bool
	code       int
	text       string
	permanent  bool
	unclear    bool
	retryAfter time.Duration
}

// byStatus judges by the HTTP status: 2xx is success, 408, 425, 429 and 5xx pass.
func byStatus(r response) verdict {
	v := verdict{ok: r.status/100 == 2, code: r.status, text: string(r.body), retryAfter: retryAfter(r)}
	switch r.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		v.permanent = r.status/100 == 4
	}
	return v
}

// retryAfter reads the header, seconds or a date; at most a day.
func retryAfter(r response) time.Duration {
	h := strings.TrimSpace(r.header.Get("Retry-After"))
	if h == "" || r.status/100 == 2 {
		return 0
	}
	var d time.Duration
	if s, err := strconv.ParseFloat(h, 64); err == nil && s >= 0 {
		d = time.Duration(min(s, 86400) * float64(time.Second))
	} else if at, err := http.ParseTime(h); err == nil {
		d = at.Sub(r.now)
	}
	return min(max(d, 0), 24*time.Hour)
}

// post sends the request and reads the answer.
func (s *Sender) post(ctx context.Context, e endpoint, q request) (Answer, error) {
	to := e.url
	if q.path != nil {
		to = q.path
	}
	method := http.MethodPost
	if q.method != "" {
		method = q.method
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(q.body))
	if err != nil {
		return Answer{}, &CheckError{"url", CheckForm}
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	req.Header.Set("User-Agent", "Carillon")
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	res, err := s.http.Do(req)
	if err != nil {
		return Answer{}, noAnswer(ctx, err)
	}
	defer res.Body.Close()
	r := response{status: res.StatusCode, header: res.Header, now: s.now()}
	if r.status/100 == 3 {
		return Answer{}, &Error{Reason: Redirect, Code: r.status, Text: errRedirect.Error(), Err: errRedirect}
	}
	r.body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	judge := e.kind.judge
	if judge == nil {
		judge = byStatus
	}
	v := judge(r)
	// An answer whose code is in the body is no answer before the body is there.
	if err != nil && v.unclear {
		return Answer{}, noAnswer(ctx, err)
	}
	v.text = e.words(v.text)
	if v.ok {
		return Answer{Code: v.code, Text: v.text}, nil
	}
	reason := Refused
	if v.unclear {
		reason = Unclear
	}
	return Answer{}, &Error{Reason: reason, Code: v.code, Text: v.text, Permanent: v.permanent, RetryAfter: v.retryAfter}
}

// words cleans an answer, which may quote what we sent.
func (e endpoint) words(text string) string {
	for _, secret := range e.secrets {
		if len(secret) >= 6 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return cutBytes(oneLine(text), 500)
}

// marshal writes JSON that leaves < > & as they are: they cost six bytes each
// otherwise.
func marshal(v any) []byte {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(v); err != nil {
		panic(err) // maps and strings only
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
