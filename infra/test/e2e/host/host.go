// Package host starts the local system as a child process, waits until it answers,
// and stops it.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// InMemory is a Data for a database that ends with its host. It needs a third
// less processor time than one in a folder.
const InMemory = "memory"

// Options select what to start; Binary and Root are required.
type Options struct {
	Binary   string   // the built infra/local
	Root     string   // of the repository
	Data     string   // folder of the database, or InMemory; empty means the host's default
	Bin      string   // folder of the functions' bootstraps; empty means the host's default
	Template string   // empty means the host's default
	HTTP     string   // address to listen on; empty means a free one
	WS       string   // likewise for the WebSocket API
	Grants   string   // file for the uses of permissions, see infra/local's flag -grants; empty means none
	Env      []string // NAME=value, added to this process's environment; such as RUN_LEASE=3s
	Output   io.Writer
}

// Host is a running local system.
type Host struct {
	URL          string // of the HTTP API
	WebSocketURL string // of the WebSocket API; empty without one
	LambdaURL    string // of the Lambda invoke API
	EventsURL    string // of the list of accepted events

	process *os.Process
	exited  chan struct{}
	err     error // of the process, once exited is closed
}

const (
	// startTime is long because a first start also fetches the database.
	startTime = 5 * time.Minute
	stopTime  = 5 * time.Minute
	// pipeTime is how long its own children may keep the output open after it.
	pipeTime = 2 * time.Second
)

var errSilent = errors.New("the local host does not answer")

// Start runs the local host and returns when it is ready.
func Start(ctx context.Context, opts Options) (*Host, error) {
	if opts.HTTP == "" {
		opts.HTTP = "127.0.0.1:0"
	}
	if opts.WS == "" {
		opts.WS = "127.0.0.1:0"
	}
	args := []string{"-root", opts.Root, "-http", opts.HTTP, "-ws", opts.WS}
	switch opts.Data {
	case "":
	case InMemory:
		args = append(args, "-data", "")
	default:
		args = append(args, "-data", opts.Data)
	}
	if opts.Bin != "" {
		args = append(args, "-bin", opts.Bin)
	}
	if opts.Template != "" {
		args = append(args, "-template", opts.Template)
	}
	greeting := newGreeting(opts.Output)
	if opts.Grants != "" {
		args = append(args, "-grants", opts.Grants)
	}
	// The caller's context only ends the waiting; Stop ends the process cleanly.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), opts.Binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = opts.Root, greeting, opts.Output
	cmd.Env = append(append(cmd.Environ(), "ADMIN_SCOPE=rethread:admin", "APP_STATE_WRITERS=users"), opts.Env...)
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = pipeTime
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the local host: %w", err)
	}
	h := &Host{process: cmd.Process, exited: make(chan struct{})}
	go func() {
		h.err = cmd.Wait()
		close(h.exited)
	}()
	if err := h.waitReady(ctx, greeting); err != nil {
		return nil, errors.Join(fmt.Errorf("start the local host: %w", err), h.Stop())
	}
	return h, nil
}

func (h *Host) waitReady(ctx context.Context, greeting *greeting) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errSilent)
	defer cancel()
	select {
	case <-greeting.ready:
		h.URL, h.WebSocketURL, h.LambdaURL = greeting.url, greeting.socketsURL, greeting.lambdaURL
		h.EventsURL = greeting.eventsURL
		return nil
	case <-h.exited:
		return fmt.Errorf("it ended at once: %w", errors.Join(errSilent, h.err))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Answers reports whether a system answers at the address.
func Answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/sessions", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	// Without a token, a running API returns 401.
	return res.Body.Close() == nil && res.StatusCode == http.StatusUnauthorized
}

// Stop interrupts the host like Ctrl-C and waits until it has ended.
func (h *Host) Stop() error {
	select {
	case <-h.exited:
		return nil
	default:
	}
	if err := h.process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the local host: %w", err)
	}
	timeout := time.NewTimer(stopTime)
	defer timeout.Stop()
	select {
	case <-h.exited:
		return nil
	case <-timeout.C:
		err := h.process.Kill()
		<-h.exited
		return errors.Join(fmt.Errorf("stop the local host: it did not end within %s", stopTime), err)
	}
}

// Kill ends the host like a crash, and waits until it has exited. Its functions
// lose their host, and exit too.
func (h *Host) Kill() error {
	if err := h.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the local host: %w", err)
	}
	<-h.exited
	return nil
}
