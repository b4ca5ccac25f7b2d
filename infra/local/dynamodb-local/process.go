package dynamodblocal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrPrerequisite means that a program the engine needs is missing or too old.
var ErrPrerequisite = errors.New("missing prerequisite")

const oldestJava = 17

// watchdog runs a command and ends it when standard input closes. The operating
// system closes it however the parent ends, so no engine is ever left running.
const watchdog = `exec 3<&0
"$@" 3<&- </dev/null &
engine=$!
{ cat <&3; kill "$engine"; } >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$engine"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"`

// process is the engine's process group: the watchdog and the engine.
type process struct {
	cmd   *exec.Cmd
	alive io.Closer
	tail  *tail
	done  chan struct{}
}

func startProcess(ctx context.Context, command []string, output io.Writer) (*process, error) {
	args := append([]string{"-c", watchdog, "sh"}, command...)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", args...) //nolint:gosec // the command is built here
	p := &process{cmd: cmd, tail: newTail(output), done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.tail, p.tail
	cmd.WaitDelay = time.Second
	// A process group of its own keeps the terminal's Ctrl-C away: the parent decides
	// the order of the shutdown.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("open the watchdog's pipe: %w", err)
	}
	p.alive = alive
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", command[0], err)
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // the reason is read from the output, see diagnose
	}()
	return p, nil
}

// stop asks the engine to end, kills it after grace, and waits.
func (p *process) stop(grace time.Duration) {
	_ = p.alive.Close() // already closed when the process has ended
	select {
	case <-p.done:
		return
	case <-time.After(grace):
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended already
	<-p.done
}

// diagnose returns why the engine ended before it answered.
func (p *process) diagnose(ctx context.Context) error {
	output := strings.TrimSpace(p.tail.String())
	switch {
	case strings.Contains(output, "Address already in use"), strings.Contains(output, "Failed to bind"):
		return ErrPortTaken
	case strings.Contains(output, "UnsupportedClassVersionError"):
		return fmt.Errorf("%w: Java %d or newer is needed, %s", ErrPrerequisite, oldestJava, foundJava(ctx))
	default:
		return fmt.Errorf("the engine exited during its start (%s): %s", p.cmd.ProcessState, output)
	}
}

func findJava() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java := filepath.Join(home, "bin", "java")
		if _, err := os.Stat(java); err == nil {
			return java, nil
		}
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return "", fmt.Errorf("%w: Java %d or newer: install a JDK, or set JAVA_HOME or DYNAMODB_ENDPOINT",
			ErrPrerequisite, oldestJava)
	}
	return java, nil
}

func foundJava(ctx context.Context) string {
	java, err := findJava()
	if err != nil {
		return "none was found"
	}
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput() //nolint:gosec // the path was just found
	if err != nil {
		return fmt.Sprintf("%s does not run: %v", java, err)
	}
	if version, ok := parseJavaVersion(string(out)); ok {
		return "found " + strconv.Itoa(version) + " at " + java
	}
	return "found " + java
}

// parseJavaVersion reads the major version from what `java -version` prints:
// "1.8.0_392" means 8, "17.0.15" means 17.
func parseJavaVersion(output string) (int, bool) {
	match := regexp.MustCompile(`version "(?:1\.)?(\d+)`).FindStringSubmatch(output)
	if match == nil {
		return 0, false
	}
	version, err := strconv.Atoi(match[1])
	return version, err == nil
}
