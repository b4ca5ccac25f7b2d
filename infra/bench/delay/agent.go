package delay

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/base/retry"
)

const agentName = "bench"

// Agent is an agent whose tokens contain the time they were emitted. The runs of a
// scenario start together, once all of them have called, and then each after a
// random pause, like the tokens of independent conversations.
type Agent struct {
	mu  sync.Mutex
	now *performance
}

// performance is the output of the agent in one scenario.
type performance struct {
	missing int // runs that have not called yet
	all     chan struct{}
	tokens  int
	every   time.Duration
}

// Config is the value of AGENTS for an agent at that address.
func (a *Agent) Config(url string) (string, error) {
	config, err := json.Marshal(map[string]any{agentName: map[string]string{"type": "http", "url": url}})
	if err != nil {
		return "", fmt.Errorf("configure the agent: %w", err)
	}
	return string(config), nil
}

// Perform sets the output for the next runs.
func (a *Agent) Perform(runs, tokens int, every time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = &performance{missing: runs, all: make(chan struct{}), tokens: tokens, every: every}
}

// enter counts a run that has called.
func (a *Agent) enter() *performance {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now == nil {
		return nil
	}
	if a.now.missing--; a.now.missing == 0 {
		close(a.now.all)
	}
	return a.now
}

// ServeHTTP speaks the protocol of docs/agent-protocol.md.
func (a *Agent) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	p := a.enter()
	if p == nil {
		http.Error(rw, "no output is configured", http.StatusConflict)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(rw)
	if control.Flush() != nil {
		return // the caller disconnected
	}
	select {
	case <-p.all:
	case <-r.Context().Done():
		return
	}
	rest := firstPause(p.every)
	for n := range p.tokens {
		if retry.Sleep(r.Context(), rest) != nil {
			return
		}
		rest = p.every
		text := fmt.Sprintf(`{"part": 0, "text": %q}`, newToken(n, time.Now()))
		if send(rw, "delta", text) != nil || control.Flush() != nil {
			return
		}
	}
	_ = send(rw, "done", "{}") // the caller may have disconnected
}

func send(rw io.Writer, kind, data string) error {
	m := sse.Message{Type: sse.Type(kind)}
	m.AppendData(data)
	_, err := m.WriteTo(rw)
	return err
}
