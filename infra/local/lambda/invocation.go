package lambda

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"
)

// Result is the outcome of an invocation.
type Result struct {
	RequestID string
	// Payload is the answer or the description of the error; nil if Stream is set.
	Payload []byte
	// Stream is a streamed answer; the caller must close its body.
	Stream *Stream
	// FunctionError is "Unhandled" if the function failed.
	FunctionError string
	// Cold reports whether a process was started for the invocation.
	Cold bool
}

// invocation is a request in a pool.
type invocation struct {
	id            string
	payload       []byte
	clientContext string
	trace         string
	done          chan *Result
	// release frees the invocation's concurrency slot, once; nil before it has one.
	release func()

	mu        sync.Mutex
	delivered bool
	ignored   bool
	cold      bool
	deadline  time.Time
	timer     *time.Timer
}

func newInvocation(id string, payload []byte, clientContext string) *invocation {
	return &invocation{
		id: id, payload: payload, clientContext: clientContext,
		trace: newTrace(time.Now()), done: make(chan *Result, 1),
	}
}

// begin starts the function's timeout.
func (i *invocation) begin(timeout time.Duration, cold bool, expire func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.cold = cold
	i.deadline = time.Now().Add(timeout)
	i.timer = time.AfterFunc(timeout, expire)
}

// deliver delivers the result, unless one was delivered before.
func (i *invocation) deliver(result *Result) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.delivered {
		return false
	}
	i.delivered = true
	result.RequestID, result.Cold = i.id, i.cold
	if i.ignored {
		result.discard()
	}
	if result.Stream == nil {
		i.release() // first: the caller may invoke again as soon as it has the result
	}
	i.done <- result
	return true
}

// abandon discards the result, whether delivered or still to come.
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

// end stops the timeout and frees the slot. Until then the invocation counts as
// running, even if its caller has left.
func (i *invocation) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.release()
	if i.timer != nil {
		i.timer.Stop()
	}
}

// newTrace returns an X-Ray trace header.
func newTrace(now time.Time) string {
	var id [20]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Sprintf("Root=1-%08x-%s;Parent=%s;Sampled=0",
		now.Unix(), hex.EncodeToString(id[:12]), hex.EncodeToString(id[12:]))
}
