package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// KillWorkers kills the processes of a function, named by the folder of its
// binary, like a crash. It returns how many there were; the host starts others
// when needed.
func (h *Host) KillWorkers(ctx context.Context, function string) (int, error) {
	workers, err := h.workers(ctx, function)
	if err != nil {
		return 0, fmt.Errorf("find the processes of %s: %w", function, err)
	}
	killed := 0
	for _, pid := range workers {
		switch err := syscall.Kill(pid, syscall.SIGKILL); err {
		case nil:
			killed++
		case syscall.ESRCH: // it has just ended
		default:
			return killed, fmt.Errorf("kill a process of %s: %w", function, err)
		}
	}
	return killed, nil
}

// workers returns the host's child processes that run the function's binary.
func (h *Host) workers(ctx context.Context, function string) ([]int, error) {
	out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	binary := filepath.Join(function, "bootstrap")
	var found []int
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[1] != strconv.Itoa(h.process.Pid) ||
			!strings.HasSuffix(fields[2], string(os.PathSeparator)+binary) {
			continue
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, fmt.Errorf("ps: %w", err)
		}
		found = append(found, pid)
	}
	return found, nil
}
