package channel

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func parseWebhook(e *endpoint) *CheckError {
	for _, secret := range strings.Fields(e.secret) {
		if _, ok := standardKey(secret); !ok {
			return &CheckError{"secret", CheckSecret}
		}
	}
	if len(strings.Fields(e.secret)) > 3 {
		return &CheckError{"secret", CheckLong}
	}
	return nil
}

// standardKey is the key of Standard Webhooks: what is behind whsec_ in base64, 24 to
// 64 bytes. Another secret is its own key.
func standardKey(secret string) (string, bool) {
	text, ok := strings.CutPrefix(secret, "whsec_")
	if !ok {
		return secret, true
	}
	key, err := base64.StdEncoding.DecodeString(text)
	return string(key), err == nil && len(key) >= 24 && len(key) <= 64
}

// signGitHub is X-Hub-Signature-256: hex of the HMAC of the body.
func signGitHub(secret string, body []byte) string {
	return "sha256=" + hex.EncodeToString(mac(secret, string(body)))
}

// signStandard is webhook-signature, of one secret.
func signStandard(secret, id, timestamp string, body []byte) string {
	key, _ := standardKey(secret)
	return "v1," + base64.StdEncoding.EncodeToString(mac(key, id+"."+timestamp+"."+string(body)))
}

// writeWebhook sends the body as it is, with both signatures (docs/alarms.md).
func writeWebhook(e endpoint, m Message, now time.Time) request {
	id, timestamp := headerValue(m.ID), strconv.FormatInt(now.Unix(), 10)
	h := map[string]string{"webhook-id": id, "webhook-timestamp": timestamp, "X-Carillon-Event": headerValue(m.Step)}
	secrets, signatures := strings.Fields(e.secret), []string{}
	for _, secret := range secrets {
		signatures = append(signatures, signStandard(secret, id, timestamp, m.Body))
	}
	if len(secrets) > 0 {
		h["webhook-signature"] = strings.Join(signatures, " ")
		h["X-Hub-Signature-256"] = signGitHub(secrets[0], m.Body)
	}
	return request{header: h, body: m.Body}
}

// judgeWebhook: 410 says that nobody wants more. Everything else but 2xx may be a
// mistake that is mended.
func judgeWebhook(r response) verdict {
	v := byStatus(r)
	v.permanent = r.status == http.StatusGone
	return v
}

// headerValue keeps what may stand in a header.
func headerValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '!' || r > '~' {
			return -1
		}
		return r
	}, s)
}
