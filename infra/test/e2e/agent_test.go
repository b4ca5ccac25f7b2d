package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/domain/session"
)

// endless is an agent that answers until its caller disconnects, and records that.
type endless struct {
	url      string
	mu       sync.Mutex
	hungUp   map[string]chan struct{} // by run
	texts    map[string][]string      // inputs, by run
	requests map[string]asked         // by run
}

// asked is the request that the agent received for a run.
type asked struct {
	RunID  string            `json:"run_id"`
	Events []json.RawMessage `json:"events"`
	State  map[string]any    `json:"state"`
}

// last is the newest event in the request.
func (a asked) last(t *testing.T) session.Event {
	t.Helper()
	if len(a.Events) == 0 {
		t.Fatal("the agent got no events")
	}
	e, err := session.ParseEvent(a.Events[len(a.Events)-1], "")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// word is what the agent repeats.
const word = "tick "

func newEndless(t *testing.T) *endless {
	t.Helper()
	a := &endless{hungUp: map[string]chan struct{}{}, texts: map[string][]string{}, requests: map[string]asked{}}
	server := httptest.NewServer(a)
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// env configures the system with the agent as "endless".
func (a *endless) env() string {
	return fmt.Sprintf(`AGENTS={"endless": {"type": "http", "url": %q}}`, a.url)
}

// ServeHTTP implements http.Handler.
func (a *endless) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var in asked
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	var texts []string
	for _, raw := range in.Events {
		var e struct {
			Content struct{ Parts []struct{ Text string } }
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		for _, part := range e.Content.Parts {
			texts = append(texts, part.Text)
		}
	}
	a.mu.Lock()
	a.texts[in.RunID] = texts
	a.requests[in.RunID] = in
	a.mu.Unlock()
	defer close(a.hangUp(in.RunID))
	rw.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := fmt.Fprintf(rw, "event: delta\ndata: {\"part\": 0, \"text\": %q}\n\n", word)
		if err == nil {
			err = http.NewResponseController(rw).Flush()
		}
		if err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// asked returns the texts that the agent received for a run, nil if there are none
// yet.
func (a *endless) asked(run string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.texts[run]
}

// hangUp returns a channel that is closed when the call for that run has ended.
func (a *endless) hangUp(run string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hungUp[run] == nil {
		a.hungUp[run] = make(chan struct{})
	}
	return a.hungUp[run]
}

// wasAsked returns the request that the agent received for a run.
func (a *endless) wasAsked(run string) asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[run]
}

// mustHangUp waits until the agent's call for a run has ended.
func (a *endless) mustHangUp(t *testing.T, run string) {
	t.Helper()
	timeout := time.NewTimer(e2e.Patience)
	defer timeout.Stop()
	select {
	case <-a.hangUp(run):
	case <-timeout.C:
		t.Fatal("the agent is still being called")
	}
}

// says is a user event for the input of a run.
func says(text string) e2e.M {
	return e2e.M{"content": e2e.M{"role": "user", "parts": []e2e.M{{"text": text}}}}
}

// mustRun starts a run; more are members of the request. It returns the answer,
// which contains the thread, and the run's id.
func mustRun(t *testing.T, u *e2e.User, session, text string, more e2e.M) (*e2e.Answer, string) {
	t.Helper()
	body := e2e.M{"input": []e2e.M{says(text)}}
	for name, value := range more {
		body[name] = value
	}
	answer := u.Post(session+"/runs", body).Want(202)
	return answer, answer.Str("data.run.id")
}
