package app

import (
	"reflect"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// TestSettingsHaveEveryFlagAndNoSecret: a flag that is added is shown, under the name that
// people type, and what sounds like a secret is not.
func TestSettingsHaveEveryFlagAndNoSecret(t *testing.T) {
	cfg := ServeCmd{
		AccessToken: "s3cret-a", PreviousAccessToken: "s3cret-b", AdminPassword: "s3cret-c", PreviousTokenUntil: "2026-12-01 18:00",
		DatabaseFlags: DatabaseFlags{Database: "mysql://root:s3cret-d@db:3306/xxl_job"}, PublicURL: "https://u:s3cret-e@x/", MisfireAfter: time.Minute,
	}
	got := map[string]string{}
	for _, s := range cfg.settings() {
		require.NotContains(t, s.Value, "s3cret", s.Name)
		got[s.Name] = s.Value
	}
	require.Equal(t, []string{"set", "set", "set"}, []string{got["access-token"], got["previous-access-token"], got["admin-password"]})
	require.Equal(t, []string{"1m0s", "4s", "2026-12-01 18:00"}, []string{got["misfire-after"], got["node-dead-after"], got["previous-token-until"]})
	require.NotEmpty(t, got["node-name"])
	cfg.Database = "mysql://root:s3cret%zz@db/x" // no URL
	for _, s := range cfg.settings() {
		require.NotContains(t, s.Value, "s3cret", s.Name)
	}

	parser, err := kong.New(&ServeCmd{})
	require.NoError(t, err)
	for _, f := range parser.Model.Flags {
		if f.Name != "help" {
			require.Contains(t, got, f.Name)
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[ServeCmd]()) {
		if field.Type.Kind() == reflect.String && field.Name != "PreviousTokenUntil" && secretName(field.Name) {
			require.Contains(t, []string{"set", ""}, got[flagName(field.Name)], field.Name)
		}
	}
}
