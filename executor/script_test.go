package executor

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/protocol"
)

func need(t *testing.T, command string) {
	t.Helper()
	_, err := exec.LookPath(command)
	require.NoError(t, err, "the test needs %s: run make setup", command)
}

func TestScripts(t *testing.T) {
	need(t, "bash")
	c := newCenter(t)
	o := options(t, c)
	e := start(t, o, nil)

	tr := script(1, 1, "GLUE_SHELL", `echo "args: $1|$2|$3"; echo oops >&2`)
	tr.Params, tr.BroadcastIndex, tr.BroadcastTotal = `a "b" $HOME`, 2, 5
	run(t, e, tr)
	run(t, e, script(2, 2, "GLUE_SHELL", "exit 3"))
	run(t, e, script(3, 3, "GLUE_SHELL", "kill -9 $$"))
	res := c.results(t, 3)
	require.Equal(t, 200, res[1].Code)
	require.Equal(t, 500, res[2].Code)
	require.Equal(t, "script ended with exit code 3", res[2].Msg)
	require.Contains(t, res[3].Msg, "signal: killed")
	text, end := readLog(t, e, 1)
	require.True(t, end)
	require.Contains(t, text, ` args: a "b" $HOME|2|5`+"\n")
	require.Contains(t, text, "oops")

	// The file is written once per version, and only the current one is kept.
	file := filepath.Join(o.DataDir, "scripts", "1_1.sh")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, tr.GlueSource, string(raw))
	tr.LogID, tr.GlueSource = 4, "exit 9"
	run(t, e, tr)
	require.Equal(t, 200, c.results(t, 1)[4].Code, "same version")
	tr.LogID, tr.GlueUpdateTime = 5, 2
	run(t, e, tr)
	require.Contains(t, c.results(t, 1)[5].Msg, "exit code 9")
	list, err := filepath.Glob(filepath.Join(o.DataDir, "scripts", "1_*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(o.DataDir, "scripts", "1_2.sh")}, list)
}

// TestScriptsDoNotGetTheToken: it opens all executors, a script is of one.
func TestScriptsDoNotGetTheToken(t *testing.T) {
	need(t, "bash")
	t.Setenv("CARILLON_ACCESS_TOKEN", "token")
	t.Setenv("CARILLON_CENTER", "http://center/")
	t.Setenv("BILLING_TOKEN", "token")
	t.Setenv("BILLING_REGION", "eu")
	c := newCenter(t)
	e := start(t, options(t, c), nil)
	run(t, e, script(1, 1, "GLUE_SHELL", `env; command -v ls`))
	require.Equal(t, 200, c.results(t, 1)[1].Code)
	text, _ := readLog(t, e, 1)
	require.NotContains(t, text, "CARILLON_")
	require.NotContains(t, text, "BILLING_TOKEN")
	require.Contains(t, text, "BILLING_REGION=eu")
	require.Contains(t, text, "/ls", "the rest of the environment is there")

	long := "a-token-of-some-length"
	require.Equal(t, []string{"PATH=/bin", "AUTH="}, scriptEnv([]string{"PATH=/bin", "AUTH=", "A=Bearer " + long, "B=" + long, "carillon_x=1"}, long))
	require.Equal(t, []string{"PATH=/bin"}, scriptEnv([]string{"PATH=/bin", "A=b"}, "b"), "a short one only as a whole")
	require.Equal(t, []string{"PATH=/bin", "AUTH="}, scriptEnv([]string{"PATH=/bin", "AUTH="}, ""))
}

func TestPythonScript(t *testing.T) {
	need(t, "python3")
	c := newCenter(t)
	e := start(t, options(t, c), nil)
	run(t, e, script(1, 1, "GLUE_PYTHON", "import sys\nprint(sys.argv[2:])\nsys.exit(4)"))
	require.Contains(t, c.results(t, 1)[1].Msg, "exit code 4")
	text, _ := readLog(t, e, 1)
	require.Contains(t, text, "['0', '1']")
}

// TestScriptIsKilledWithItsChildren has a script start a child that holds the
// write end of a FIFO: reading its end means that the child has gone as well.
func TestScriptIsKilledWithItsChildren(t *testing.T) {
	need(t, "bash")
	need(t, "mkfifo")
	for name, source := range map[string]string{
		"willing":  `(exec 9>"$1"; echo up >&9; sleep 100 & wait) & wait`,
		"stubborn": `trap '' TERM; (trap '' TERM; exec 9>"$1"; echo up >&9; while :; do sleep 1; done) & while :; do wait; done`,
	} {
		t.Run(name, func(t *testing.T) {
			c := newCenter(t)
			o := options(t, c)
			o.KillGrace /= 4
			e := start(t, o, nil)
			fifo := filepath.Join(t.TempDir(), "fifo")
			require.NoError(t, exec.Command("mkfifo", fifo).Run())
			tr := script(7, 1, "GLUE_SHELL", source)
			tr.Params = fifo
			run(t, e, tr)
			f, err := os.Open(fifo) // waits for the child
			require.NoError(t, err)
			defer f.Close()
			buf := make([]byte, 3)
			_, err = f.Read(buf)
			require.NoError(t, err)
			require.Equal(t, 200, call(t, e, "kill", protocol.Kill{JobID: 7}).Code)
			_, err = f.Read(buf)
			require.ErrorContains(t, err, "EOF", "the child lives")
			require.Contains(t, c.results(t, 1)[1].Msg, "killed")
		})
	}
}
