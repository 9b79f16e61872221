package protocol

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTokens(t *testing.T) {
	end := time.Date(2026, 12, 1, 18, 0, 0, 0, time.UTC)
	tokens := Tokens{Current: "new", Previous: "old", Until: end}
	for _, c := range []struct {
		token   string
		now     time.Time
		ok, old bool
	}{
		{"new", end.Add(-time.Second), true, false},
		{"old", end.Add(-time.Second), true, true},
		{"old", end, false, false},
		{"new", end, true, false},
		{"", end.Add(-time.Second), false, false},
		{"newer", end.Add(-time.Second), false, false},
	} {
		ok, old := tokens.Accepts(c.token, c.now)
		require.Equal(t, []bool{c.ok, c.old}, []bool{ok, old}, "%q at %s", c.token, c.now)
	}
	ok, _ := Tokens{Current: "new"}.Accepts("", end)
	require.False(t, ok, "no previous token is not an empty one")
}

// TestAbout: what others write under our key is no error, and no report.
func TestAbout(t *testing.T) {
	for _, raw := range []string{``, `null`, `"text"`, `[]`, `{"about":7}`, `{"about":{"handlers":"x"}}`} {
		require.Nil(t, ReadAbout(json.RawMessage(raw)), raw)
	}
	require.Equal(t, &About{Version: "1", Running: 2}, ReadAbout(json.RawMessage(`{"about":{"version":"1","running":2,"more":true}}`)))
	var r Registry
	require.NoError(t, Decode([]byte(`{"registryGroup":"EXECUTOR","registryKey":"a","registryValue":"b","carillon":"nonsense"}`), &r))
	require.Nil(t, ReadAbout(r.Own))
}
