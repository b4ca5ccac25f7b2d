package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/infra/bench/prose"
	"github.com/rethread/rethread/shared/base/retry"
)

// AgentName is the name under which the agent is configured.
const AgentName = "meter"

// tokenBytes is the length of a token.
const tokenBytes = 5

// tokens is prose in pieces of the length that tokens have.
func tokens(seed, n int) []string {
	var text strings.Builder
	for i := seed; text.Len() < n*tokenBytes; i++ {
		text.WriteString(prose.Text(-i-1, answerBytes))
	}
	out := make([]string, n)
	for i := range out {
		out[i] = text.String()[i*tokenBytes : (i+1)*tokenBytes]
	}
	return out
}

// Agent answers each call with the same tokens, at a steady pace.
type Agent struct {
	mu      sync.Mutex
	tokens  []string
	every   time.Duration
	answers int
	took    time.Duration // of the last answer
}

// AgentConfig is the value of AGENTS for the agent at that address.
func AgentConfig(url string) (string, error) {
	config, err := json.Marshal(map[string]any{AgentName: map[string]string{"type": "http", "url": url}})
	if err != nil {
		return "", fmt.Errorf("configure the agent: %w", err)
	}
	return string(config), nil
}

// Answer sets what the agent answers next.
func (a *Agent) Answer(tokens []string, every time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tokens, a.every = tokens, every
}

// Answers returns how many answers were sent to their end.
func (a *Agent) Answers() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answers
}

// Took returns how long the last answer took.
func (a *Agent) Took() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.took
}

// Await waits until so many answers were sent.
func (a *Agent) Await(ctx context.Context, answers int) error {
	const pollEvery = 5 * time.Millisecond
	for a.Answers() < answers {
		if err := retry.Sleep(ctx, pollEvery); err != nil {
			return fmt.Errorf("wait for the agent: %w", err)
		}
	}
	return nil
}

// ServeHTTP speaks the protocol of docs/agent-protocol.md.
func (a *Agent) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	began := time.Now()
	a.mu.Lock()
	tokens, every := a.tokens, a.every
	a.mu.Unlock()
	rw.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(rw)
	for n, token := range tokens {
		text, err := json.Marshal(map[string]any{"part": 0, "text": token})
		if err != nil || send(rw, "delta", string(text)) != nil || control.Flush() != nil {
			return // the caller disconnected
		}
		if next := began.Add(time.Duration(n+1) * every); retry.Sleep(r.Context(), time.Until(next)) != nil {
			return
		}
	}
	if send(rw, "done", "{}") != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers++
	a.took = time.Since(began)
}

func send(rw io.Writer, kind, data string) error {
	m := sse.Message{Type: sse.Type(kind)}
	m.AppendData(data)
	_, err := m.WriteTo(rw)
	return err
}
