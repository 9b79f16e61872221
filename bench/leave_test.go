package main

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestACenterIsLeftAsItWas measures a center that is not ours, once to the end and
// once until somebody presses Ctrl-C.
func TestACenterIsLeftAsItWas(t *testing.T) {
	host, err := (SiteFlags{Engine: "sqlite", Nodes: 1, Executors: 1}).open(t.Context(), siteNeeds{})
	require.NoError(t, err)
	defer func() { require.NoError(t, host.close(t.Context())) }()
	count := func(table string) (n int) {
		require.NoError(t, host.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n))
		return n
	}
	mine, err := insertJobs(t.Context(), host.db, host.group, []jobRow{{name: "ours", kind: "NONE", misfire: "DO_NOTHING", route: "FIRST", handler: handlerCount}})
	require.NoError(t, err)
	require.Len(t, mine, 1)
	flags := &SiteFlags{Center: host.nodes[0].url, Database: host.database, ExecutorToken: host.token, Executors: 2}
	asItWas := func() {
		t.Helper()
		require.Equal(t, 1, count("xxl_job_info"))
		require.Equal(t, 1, count("xxl_job_group"))
		require.Equal(t, 1, count("xxl_job_registry"))
	}

	cmd := &ThroughputCmd{Rates: []int{5, 10}, Duration: 4 * time.Second} // its last second is not measured
	require.NoError(t, cmd.Run(t.Context(), flags, &Report{out: io.Discard}))
	asItWas()
	require.Positive(t, count("xxl_job_log"))
	var open int
	require.NoError(t, host.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM xxl_job_log WHERE run_state < 4 OR handle_code NOT IN (0, 200)").Scan(&open))
	require.Zero(t, open, "what was planned was made before the executors went")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- cmd.Run(ctx, flags, &Report{out: io.Discard}) }()
	require.Eventually(t, func() bool { return count("xxl_job_info") > 1 }, 30*time.Second, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	asItWas()
}
