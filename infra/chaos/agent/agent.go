// Package agent is an agent that can continue a run whose worker was lost, and
// remembers its calls, so that a log can be verified against them.
package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rethread/rethread/infra/chaos/fold"
	"github.com/rethread/rethread/shared/base/retry"
)

const (
	// Name is the agent's name in the configuration.
	Name = "careful"
	// Continuations is how often one of its runs may be continued.
	Continuations = 2

	pace      = 25 * time.Millisecond // between two words
	itemWords = 40                    // in an item
	firstItem = 6                     // items of an answer; one of a continuation
	// firstWords are so many that the worker has written some of them.
	firstWords = 30
)

// Call is a request that the agent has received.
type Call struct {
	Run          string
	Continuation int
	Said         string // the text of what was said before
	Number       int    // of all calls
}

// Words is how many words answer the call.
func (c Call) Words() int {
	if c.Continuation > 0 {
		return itemWords
	}
	return firstItem * itemWords
}

// Word is the i-th word of the answer, from 0 on; no other call has it.
func (c Call) Word(i int) string { return fmt.Sprintf("k%d.%d", c.Number, i) }

// Agent is the agent. It is safe for concurrent use.
type Agent struct {
	url    string
	server *http.Server

	// speaking is how many answers have begun, with some words, and have not ended.
	speaking atomic.Int32

	mu    sync.Mutex
	calls []Call
}

// Start serves the agent.
func Start(ctx context.Context) (*Agent, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the agent: %w", err)
	}
	a := &Agent{url: "http://" + listener.Addr().String()}
	a.server = &http.Server{Handler: http.HandlerFunc(a.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = a.server.Serve(listener) }() // until Close
	return a, nil
}

// Close ends the agent and its calls.
func (a *Agent) Close() error { return a.server.Close() }

// Config is the configuration of agents with this one.
func (a *Agent) Config() string {
	return fmt.Sprintf(`{%q: {"type": "http", "url": %q, "max_continuations": %d}}`, Name, a.url, Continuations)
}

// Calls returns the calls for a run, in the order in which they came.
func (a *Agent) Calls(run string) []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Call
	for _, c := range a.calls {
		if c.Run == run {
			out = append(out, c)
		}
	}
	return out
}

func (a *Agent) serve(rw http.ResponseWriter, r *http.Request) {
	var in struct {
		Run          string       `json:"run_id"`
		Continuation int          `json:"continuation"`
		Said         []fold.Entry `json:"said"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	var said strings.Builder
	for _, e := range in.Said {
		said.WriteString(e.Text())
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	_ = a.answer(r.Context(), rw, a.called(in.Run, in.Continuation, said.String())) // it fails only if the caller has gone
}

func (a *Agent) called(run string, continuation int, said string) Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := Call{Run: run, Continuation: continuation, Said: said, Number: len(a.calls)}
	a.calls = append(a.calls, c)
	return c
}

// Speaking reports whether an answer is in progress of which some words were sent.
func (a *Agent) Speaking() bool { return a.speaking.Load() > 0 }

func (a *Agent) answer(ctx context.Context, rw http.ResponseWriter, c Call) error {
	for i := range c.Words() {
		if i == firstWords {
			a.speaking.Add(1)
			defer a.speaking.Add(-1)
		}
		text := ""
		if i%itemWords == 0 {
			text = "event: item\ndata: {}\n\n"
		}
		text += fmt.Sprintf("event: delta\ndata: {\"part\": 0, \"text\": %q}\n\n", c.Word(i)+" ")
		if _, err := io.WriteString(rw, text); err != nil {
			return err
		}
		if err := http.NewResponseController(rw).Flush(); err != nil {
			return err
		}
		if err := retry.Sleep(ctx, pace); err != nil {
			return err
		}
	}
	_, err := io.WriteString(rw, "event: done\ndata: {}\n\n")
	return err
}
