package channel

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// PagerDuty and Opsgenie keep incidents of their own: ours opens one by its Key and
// closes it by the same.

var apiKey = regexp.MustCompile(`^[A-Za-z0-9+_-]+$`)

// keyed takes the key out of Secret, or out of pagerduty://host/key.
func (e *endpoint) keyed(scheme, host, path string) *CheckError {
	e.token = e.secret
	base := &url.URL{Scheme: e.url.Scheme, Host: e.url.Host}
	if e.url.Scheme == scheme {
		if e.token == "" {
			e.token = strings.Trim(e.url.Path, "/")
		}
		if base.Scheme = "https"; base.Host == "" {
			base.Host = host
		}
	}
	base.Path = path
	e.url, e.query = base, nil
	switch {
	case e.token == "":
		return &CheckError{"secret", CheckMissing}
	case len(e.token) < 16 || len(e.token) > 128 || !apiKey.MatchString(e.token):
		return &CheckError{"secret", CheckSecret}
	}
	return nil
}

// key of the incident, at most n bytes. A message without one stands alone.
func (m Message) key(n int) string {
	k := m.Key
	if k == "" {
		k = m.ID
	}
	if len(k) <= n {
		return k
	}
	sum := sha256.Sum256([]byte(k))
	return "carillon-" + hex.EncodeToString(sum[:])
}

func parsePagerDuty(e *endpoint) *CheckError {
	return e.keyed("pagerduty", "events.pagerduty.com", "/v2/enqueue")
}

func writePagerDuty(e endpoint, m Message, _ time.Time) request {
	body := map[string]any{"routing_key": e.token, "event_action": "trigger", "dedup_key": m.key(255), "client": "Carillon"}
	if m.Step == Resolved {
		body["event_action"] = "resolve"
	}
	if m.Link != "" {
		body["client_url"], body["links"] = m.Link, []any{map[string]any{"href": m.Link, "text": "Carillon"}}
	}
	body["payload"] = map[string]any{"summary": size(inUnits).fit(orTitle(m), "", 1024), "source": "Carillon", "severity": look(m, Info, Critical, Warning, Info),
		"timestamp": m.At.UTC().Format(time.RFC3339), "custom_details": map[string]any{"text": size(inJSON).fit(m.Text, m.Link, 100_000)}}
	return request{body: marshal(body)}
}

func parseOpsgenie(e *endpoint) *CheckError {
	return e.keyed("opsgenie", "api.opsgenie.com", "/v2/alerts")
}

func writeOpsgenie(e endpoint, m Message, _ time.Time) request {
	q := request{header: map[string]string{"Authorization": "GenieKey " + e.token}}
	alias := m.key(512)
	if m.Step == Resolved {
		to := *e.url
		to.RawPath = to.Path + "/" + url.PathEscape(alias) + "/close"
		to.Path += "/" + alias + "/close"
		to.RawQuery = "identifierType=alias"
		q.path, q.body = &to, marshal(map[string]any{"source": "Carillon", "note": size(inUnits).fit(m.Text, m.Link, 20_000)})
		return q
	}
	q.body = marshal(map[string]any{"message": size(inUnits).fit(orTitle(m), "", 130), "alias": alias, "description": size(inUnits).whole(m, 15_000),
		"priority": look(m, "P5", "P1", "P3", "P5"), "source": "Carillon", "details": map[string]string{"link": m.Link}})
	return q
}

// orTitle: both refuse an empty one.
func orTitle(m Message) string {
	if m.Title == "" {
		return "Carillon"
	}
	return m.Title
}
