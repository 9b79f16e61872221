package channel_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/channel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheDocumentedReceiver runs the Python of docs/alarms.md on what we send.
func TestTheDocumentedReceiver(t *testing.T) {
	doc, err := os.ReadFile("../docs/alarms.md")
	require.NoError(t, err)
	_, code, ok := strings.Cut(string(doc), "```python\n")
	require.True(t, ok)
	code, _, _ = strings.Cut(code, "```")
	script := filepath.Join(t.TempDir(), "receiver.py")
	require.NoError(t, os.WriteFile(script, []byte(code+"\nimport sys\nid, at, signature, body, secret = sys.argv[1:]\n"+
		"print(genuine(secret, {'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature}, base64.b64decode(body)))\n"), 0o600))
	s := simulate(t, 204, "")
	to := target(channel.Webhook, s.URL)
	to.Secret = whsec + " old-secret"
	m := message()
	m.Body = []byte("{\"title\":\"任务 42\"}\n")
	_, err = sender(t, func(o *channel.Options) { o.Now = time.Now }).Send(t.Context(), to, m)
	require.NoError(t, err)
	g := s.last(t)
	for _, tc := range []struct {
		secret, at, want string
		body             []byte
	}{
		{whsec, g.header.Get("webhook-timestamp"), "True", g.raw},
		{"old-secret", g.header.Get("webhook-timestamp"), "True", g.raw},
		{"another", g.header.Get("webhook-timestamp"), "False", g.raw},
		{whsec, g.header.Get("webhook-timestamp"), "False", append([]byte(" "), g.raw...)},
		{whsec, fmt.Sprint(time.Now().Unix() - 600), "False", g.raw},
	} {
		out, err := exec.CommandContext(t.Context(), "python3", script, g.header.Get("webhook-id"), tc.at, g.header.Get("webhook-signature"), base64.StdEncoding.EncodeToString(tc.body), tc.secret).CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, tc.want, strings.TrimSpace(string(out)))
	}
}
