package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheFileIsClosedToOthers: a new one, and one that was open to them before.
func TestTheFileIsClosedToOthers(t *testing.T) {
	for name, before := range map[string]os.FileMode{"new": 0, "readable by all": 0o644, "readable by the group": 0o640} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			if before != 0 {
				require.NoError(t, os.WriteFile(file, nil, before))
				require.NoError(t, os.Chmod(file, before))
			}
			st, err := Open(t.Context(), Options{URL: "sqlite:" + file})
			require.NoError(t, err)
			_, err = st.w.ExecContext(t.Context(), "CREATE TABLE x (y INT)")
			require.NoError(t, err)
			for _, part := range []string{"", "-wal", "-shm"} {
				info, err := os.Stat(file + part)
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), part)
			}
			require.NoError(t, st.Close())
		})
	}
}
