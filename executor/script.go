package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/protocol"
)

// scriptKind says how a script type is run.
type scriptKind struct{ command, suffix string }

// scriptKinds are the types that this executor knows (reference: protocol.md 6).
func scriptKinds() map[string]scriptKind {
	return map[string]scriptKind{
		"GLUE_SHELL":  {"bash", ".sh"},
		"GLUE_PYTHON": {"python3", ".py"},
	}
}

// runScript runs the source of the trigger with the arguments parameter, shard
// index, shard total. Output of both kinds goes to the log of the run. When ctx
// ends, the whole process group is asked to end and after KillGrace killed.
func (e *Executor) runScript(ctx context.Context, run *Run, tr protocol.Trigger, kind scriptKind) error {
	file, err := e.scriptFile(tr, kind)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, kind.command, file, tr.Params, //nolint:gosec // running what the center sends is the purpose
		strconv.Itoa(run.ShardIndex), strconv.Itoa(run.ShardTotal))
	cmd.Env = scriptEnv(os.Environ(), e.o.AccessToken)
	cmd.Stdout, cmd.Stderr = run, run
	ownGroup(cmd)
	cmd.Cancel = func() error { return endGroup(cmd.Process, false) }
	// Also bounds the wait for children that keep the output open.
	cmd.WaitDelay = e.o.KillGrace / 2
	err = cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		_ = endGroup(cmd.Process, true) // fails when all have gone, which is well
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		run.Logf("the script has ended, but a process that it left behind kept its output open")
		return nil
	case errors.As(err, &exit) && exit.Exited():
		return fmt.Errorf("script ended with exit code %d", exit.ExitCode())
	case err != nil:
		return fmt.Errorf("script: %w", err)
	}
	return nil
}

// scriptEnv leaves out what configures us, and whatever else holds the token:
// who may edit a script of one executor would read the key to all of them.
func scriptEnv(env []string, token string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return strings.HasPrefix(strings.ToUpper(name), "CARILLON_") || token != "" && (value == token || len(token) >= 8 && strings.Contains(value, token))
	})
}

// scriptFile gives the file with the source of the trigger and writes it when
// it is not there yet. The time of the last edit in its name is the version
// (reference: protocol.md 6). Other versions of the job are removed: its runs
// are one at a time.
func (e *Executor) scriptFile(tr protocol.Trigger, kind scriptKind) (string, error) {
	job := strconv.FormatInt(tr.JobID, 10) + "_"
	file := filepath.Join(e.scriptDir, job+strconv.FormatInt(tr.GlueUpdateTime, 10)+kind.suffix)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	old, _ := filepath.Glob(filepath.Join(e.scriptDir, job+"*")) // the pattern is well formed
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			e.log.Warn("old script was not removed", "job_id", tr.JobID, "error", err)
		}
	}
	if err := writeAtomic(file, []byte(tr.GlueSource), 0o700); err != nil {
		return "", fmt.Errorf("script cannot be written: %w", err)
	}
	return file, nil
}
