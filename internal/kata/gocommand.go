package kata

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// goCommand is the go command in a folder, whatever the learner has set for modules of
// his own: a workspace, a vendor folder, the right to change go.mod.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // then it tidies up
	cmd.WaitDelay = 5 * time.Second
	return cmd
}
