package lambda

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	initTimeout = time.Minute // AWS allows 10 s, which a process can need on a busy machine
	outputGrace = time.Second
)

// worker is one process of a function.
type worker struct {
	id   string
	pool *pool
	work chan *invocation // buffered: the worker is taken from the idle ones before the only send
	done chan struct{}

	mu        sync.Mutex
	cmd       *exec.Cmd
	ready     bool
	served    bool
	killed    bool
	exited    bool
	current   *invocation
	initError *Result
}

func newWorker(p *pool, id string) *worker {
	return &worker{id: id, pool: p, work: make(chan *invocation, 1), done: make(chan struct{})}
}

// run starts the process and returns once it has ended.
func (w *worker) run() {
	defer close(w.done)
	w.pool.host.workers.Store(w.id, w)
	defer w.pool.host.workers.Delete(w.id)
	state, err := w.execute()
	w.failInvocations(state, err)
}

func (w *worker) execute() (*os.ProcessState, error) {
	output := w.pool.output.prefixed(w.pool.Name)
	defer output.flush()
	ctx := w.pool.host.ctx                         // never ends: the host stops processes in its own order
	cmd := exec.CommandContext(ctx, w.pool.Binary) //nolint:gosec // the template names the functions
	cmd.Dir = filepath.Dir(w.pool.Binary)
	cmd.Env = w.environment()
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = outputGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the terminal's Ctrl-C is for the host only
	if err := w.begin(cmd); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(initTimeout, w.expireInit)
	defer timer.Stop()
	_ = cmd.Wait() // the process state has the reason
	return cmd.ProcessState, nil
}

func (w *worker) begin(cmd *exec.Cmd) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.killed {
		return ErrClosed
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start function: %w", err)
	}
	w.cmd = cmd
	return nil
}

// failInvocations fails the current invocation after the process has ended.
func (w *worker) failInvocations(state *os.ProcessState, err error) {
	w.mu.Lock()
	current, initError := w.current, w.initError
	w.current, w.exited = nil, true
	w.mu.Unlock()
	victim := w.pool.forget(w)
	for _, inv := range []*invocation{current, victim} {
		switch {
		case inv == nil:
		case initError != nil && inv == victim:
			inv.deliver(initError)
		case err != nil:
			inv.deliver(notStarted(inv.id, err).result())
		default:
			inv.deliver(exited(inv.id, state).result())
		}
		if inv != nil {
			inv.end()
		}
	}
}

// becomeReady marks the end of the initialisation, and reports whether it had not
// ended before.
func (w *worker) becomeReady() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.ready
	w.ready = true
	return first
}

// take assigns inv to the worker, which may have died just now.
func (w *worker) take(inv *invocation) {
	w.mu.Lock()
	cold, buried := !w.served, w.exited
	w.served, w.current = true, inv
	w.mu.Unlock()
	if buried {
		inv.deliver(exited(inv.id, nil).result())
		inv.end()
		return
	}
	timeout := w.pool.Timeout
	inv.begin(timeout, cold, func() {
		if inv.deliver(timedOut(time.Now(), inv.id, timeout).result()) || w.serves(inv) {
			w.kill()
		}
	})
}

// serving returns the current invocation if it has that id.
func (w *worker) serving(id string) *invocation {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current == nil || w.current.id != id {
		return nil
	}
	return w.current
}

func (w *worker) serves(inv *invocation) bool { return w.serving(inv.id) != nil }

// answer delivers the worker's answer to its invocation.
func (w *worker) answer(inv *invocation, result *Result) {
	w.pool.expect(w) // before the caller has the answer, and may send the next request
	inv.deliver(result)
}

// finish ends the invocation that the worker has answered.
func (w *worker) finish() {
	w.mu.Lock()
	inv := w.current
	w.current = nil
	w.mu.Unlock()
	if inv != nil {
		inv.end()
	}
}

func (w *worker) expireInit() {
	w.mu.Lock()
	late := !w.ready
	if late {
		w.initError = initTimedOut(w.id).result()
	}
	w.mu.Unlock()
	if late {
		w.kill()
	}
}

// kill ends the process group at once, as Lambda ends a sandbox.
func (w *worker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.killed = true
	if w.cmd != nil {
		_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) // it may have ended already
	}
}

// describe sets the headers of the response to /next.
func (w *worker) describe(inv *invocation, header http.Header) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	header.Set("Content-Type", "application/json")
	header.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
	header.Set("Lambda-Runtime-Invoked-Function-Arn", w.pool.host.arn(w.pool.Name))
	header.Set("Lambda-Runtime-Trace-Id", inv.trace)
	if inv.clientContext != "" {
		header.Set("Lambda-Runtime-Client-Context", inv.clientContext)
	}
}
