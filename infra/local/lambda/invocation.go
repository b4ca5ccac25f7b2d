package lambda

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"
)

// Result is how an invocation ended.
type Result struct {
	RequestID string
	// Payload is the answer, or the error's description; nil when Stream is set.
	Payload []byte
	// Stream is an answer that comes bit by bit; the caller must close its body.
	Stream *Stream
	// FunctionError is "Unhandled" when the function failed.
	FunctionError string
	// Cold says that a process was started for it.
	Cold bool
}

// invocation is one request on its way through a pool.
type invocation struct {
	id            string
	payload       []byte
	clientContext string
	trace         string
	done          chan *Result
	// release gives its place among the invocations at work back, once; nil before
	// it has one.
	release func()

	mu       sync.Mutex
	settled  bool
	ignored  bool
	cold     bool
	deadline time.Time
	timer    *time.Timer
}

func newInvocation(id string, payload []byte, clientContext string) *invocation {
	return &invocation{
		id: id, payload: payload, clientContext: clientContext,
		trace: newTrace(time.Now()), done: make(chan *Result, 1),
	}
}

// begin starts the function's time.
func (i *invocation) begin(timeout time.Duration, cold bool, expire func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.cold = cold
	i.deadline = time.Now().Add(timeout)
	i.timer = time.AfterFunc(timeout, expire)
}

// settle hands the result over, unless another was handed over before.
func (i *invocation) settle(result *Result) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.settled {
		return false
	}
	i.settled = true
	result.RequestID, result.Cold = i.id, i.cold
	if i.ignored {
		result.discard()
	}
	i.done <- result
	if result.Stream == nil {
		i.release()
	}
	return true
}

// abandon throws the result away, the one that is there or the one to come.
func (i *invocation) abandon() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ignored = true
	select {
	case result := <-i.done:
		result.discard()
	default:
	}
}

// end stops the function's time. Until then the invocation is at work, whether
// anybody waits for it or not.
func (i *invocation) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.release()
	if i.timer != nil {
		i.timer.Stop()
	}
}

// newTrace makes an X-Ray trace header.
func newTrace(now time.Time) string {
	var id [20]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Sprintf("Root=1-%08x-%s;Parent=%s;Sampled=0",
		now.Unix(), hex.EncodeToString(id[:12]), hex.EncodeToString(id[12:]))
}
