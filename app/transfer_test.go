package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// TestJobsMoveByFile exports from one center and imports into another by command.
func TestJobsMoveByFile(t *testing.T) {
	cfg, other := testConfig(t), testConfig(t)
	other.NodeName = "other"
	from, to := start(t, cfg), start(t, other)
	group, _ := addJob(t, from)
	in := jobs.NewJobInput()
	in.GroupID, in.Name, in.Author, in.ScheduleConf, in.GlueType, in.GlueSource = group, "script", "ops", "0 0 1 * * ?", model.GlueShell, "echo \"$1\"\n"
	script, err := from.Jobs.AddJob(t.Context(), admin(), in)
	require.NoError(t, err)
	require.NoError(t, from.Jobs.StartJob(t.Context(), admin(), script))
	_, err = to.Jobs.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "their-app", Title: "Theirs"})
	require.NoError(t, err)

	file := filepath.Join(t.TempDir(), "jobs.yaml")
	code, _, errOut := run(t, t.Context(), "export", "--database="+cfg.Database, "--executor=test-app", "-o", file)
	require.Zero(t, code, errOut)
	require.Contains(t, errOut, "2 jobs written")
	code, printed, _ := run(t, t.Context(), "export", "--database="+cfg.Database)
	require.Zero(t, code)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(raw), printed)

	before := dump(t, other)
	code, out, errOut := run(t, t.Context(), "import", "--database="+other.Database, file)
	require.Equal(t, 1, code)
	require.Contains(t, out, "no executor with the app name test-app")
	require.Contains(t, errOut, "2 jobs cannot be imported")
	require.Equal(t, before, dump(t, other))

	_, err = to.Jobs.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "test-app", Title: "Test"})
	require.NoError(t, err)
	before = dump(t, other)
	code, out, _ = run(t, t.Context(), "import", "--dry-run", "--status", "--database="+other.Database, file)
	require.Zero(t, code)
	require.Contains(t, out, "new      test-app/script")
	require.Contains(t, out, "status: stopped → running")
	require.Contains(t, out, "2 new, 0 changed, 0 the same, 0 not possible; nothing was changed")
	require.Equal(t, before, dump(t, other))
	code, out, errOut = run(t, t.Context(), "import", "--status", "--database="+other.Database, file)
	require.Zero(t, code, errOut)
	require.Contains(t, out, "imported")
	code, printed, _ = run(t, t.Context(), "export", "--database="+other.Database)
	require.Zero(t, code)
	require.Equal(t, string(raw), printed, "another center, the same file")
	before = dump(t, other)
	code, out, _ = run(t, t.Context(), "import", "--status", "--database="+other.Database, file)
	require.Zero(t, code)
	require.Contains(t, out, "0 new, 0 changed, 2 the same")
	require.Equal(t, before, dump(t, other), "the same file twice")

	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(raw), "author:", "autor:", 1)), 0o600))
	code, _, errOut = run(t, t.Context(), "import", "--database="+other.Database, file)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "line 5: The key autor is not known.")
	dumped := "INSERT INTO `xxl_job_info` (id, job_group, job_desc, author, schedule_type, glue_type, executor_handler) VALUES (7, 3, 'from a dump', 'ops', 'NONE', 'BEAN', 'h');"
	require.NoError(t, os.WriteFile(file, []byte(dumped), 0o600))
	code, _, errOut = run(t, t.Context(), "import", "--database="+other.Database, file)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "3=my-app")
	code, out, errOut = run(t, t.Context(), "import", "--executor=3=their-app", "--database="+other.Database, file)
	require.Zero(t, code, errOut)
	require.Contains(t, out, "1 new")
}
