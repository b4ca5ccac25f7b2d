package coldstart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// startLimit is how long Lambda lets a function start.
const startLimit = 10 * time.Second

// Errors of a start.
var (
	ErrExited = errors.New("it exited before it asked for an invocation")
	ErrAsked  = errors.New("it sends a request at its start, for which each cold start waits")
)

// runtime is Lambda's runtime API, without invocations. It is also the address of all
// services and the proxy, so that it sees whatever a function asks for at its start.
type runtime struct {
	server *httptest.Server
	asked  chan request
}

type request struct {
	what string
	at   time.Time
}

const next = "GET /2018-06-01/runtime/invocation/next"

func newRuntime() *runtime {
	r := &runtime{asked: make(chan request, 1)}
	r.server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case r.asked <- request{req.Method + " " + req.RequestURI, time.Now()}:
		default: // another one of a process that is to be ended
		}
		<-req.Context().Done()
	}))
	return r
}

// start starts a program and ends it once it asks for an invocation. It returns how long
// that took, and the resident bytes of the process.
func (r *runtime) start(ctx context.Context, p Program) (time.Duration, int, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, p.Native) //nolint:gosec // the repository's own
	cmd.Env, cmd.Stdout, cmd.Stderr = r.environment(p), &output, &output
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, fmt.Errorf("start %s: %w", p.Name, err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // the process's state has the reason
	}()
	select {
	case <-exited:
		return 0, 0, fmt.Errorf("start %s: %w: %s\n%s", p.Name, ErrExited, cmd.ProcessState, &output)
	case first := <-r.asked:
		memory, err := resident(cmd.Process.Pid)
		cancel()
		<-exited // killed
		if first.what != next {
			err = fmt.Errorf("start %s: %w: %s", p.Name, ErrAsked, first.what)
		}
		return first.at.Sub(begun), memory, err
	}
}

// environment is what a function needs of Lambda's environment, and that of the template.
func (r *runtime) environment(p Program) []string {
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + r.server.Listener.Addr().String(),
		"AWS_LAMBDA_FUNCTION_NAME=" + p.Name, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(p.Function.MemoryMB),
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none", "AWS_SESSION_TOKEN=none",
		"AWS_ENDPOINT_URL=" + r.server.URL, "HTTP_PROXY=" + r.server.URL, "HTTPS_PROXY=" + r.server.URL,
	}
	for name, value := range p.Function.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

var residentLine = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// resident returns the resident bytes of a process; 0 where there is no /proc.
func resident(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	found := residentLine.FindSubmatch(status)
	if err != nil || found == nil {
		return 0, fmt.Errorf("no resident memory of process %d: %w: %s", pid, err, status)
	}
	kb, err := strconv.Atoi(string(found[1]))
	return kb << 10, err
}
