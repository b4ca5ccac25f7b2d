package play

import (
	"context"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// grace is how long a command may take to end after an interrupt.
const grace = 20 * time.Second

// Command returns a Run that executes a command with the step's name as its last
// argument. The time of the processor is that of the command and of all descendants that
// have been waited for.
func Command(command ...string) Run {
	return func(ctx context.Context, s Step, out io.Writer) (time.Duration, error) {
		cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], s.Name)...)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
		cmd.WaitDelay = grace
		err := cmd.Run()
		if cmd.ProcessState == nil {
			return 0, err
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
	}
}
