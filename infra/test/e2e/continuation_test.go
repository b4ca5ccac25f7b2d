package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
)

// careful is an agent that continues its answer. The first call of a run never ends.
type careful struct {
	url   string
	mu    sync.Mutex
	calls []carefulCall
}

// carefulCall is the part of a request by which a run is continued.
type carefulCall struct {
	RunID        string            `json:"run_id"`
	Continuation int               `json:"continuation"`
	Said         []e2e.M           `json:"said"`
	Unanswered   []string          `json:"unanswered_tool_calls"`
	Events       []json.RawMessage `json:"events"`
}

func newCareful(t *testing.T) *careful {
	t.Helper()
	a := &careful{}
	server := httptest.NewServer(a)
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

func (a *careful) env() string {
	return fmt.Sprintf(`AGENTS={"careful": {"type": "http", "url": %q, "max_continuations": 1}}`, a.url)
}

// ServeHTTP implements http.Handler.
func (a *careful) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var in carefulCall
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	a.calls = append(a.calls, in)
	a.mu.Unlock()
	rw.Header().Set("Content-Type", "text/event-stream")
	if in.Continuation > 0 {
		_, _ = fmt.Fprint(rw, "event: delta\ndata: {\"part\": 0, \"text\": \"and the rest\"}\n\nevent: done\ndata: {}\n\n")
		return
	}
	_, err := fmt.Fprint(rw, "event: event\ndata: {\"content\": {\"role\": \"model\", \"parts\": [{\"function_call\": {\"id\": \"c1\", \"name\": \"send\", \"args\": {}}}]}}\n\n")
	for n := 1; err == nil && r.Context().Err() == nil; n++ {
		_, err = fmt.Fprintf(rw, "event: delta\ndata: {\"part\": 0, \"text\": \"word%d \"}\n\n", n)
		if err == nil {
			err = http.NewResponseController(rw).Flush()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-r.Context().Done():
		}
	}
}

// asked returns the calls so far.
func (a *careful) asked() []carefulCall {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]carefulCall(nil), a.calls...)
}

// testContinuation kills the worker of a run in the middle of an answer: another one
// continues the run, what watchers had seen stays, and the answer is completed. The
// second worker of a run that may be continued once is its last.
func testContinuation(t *testing.T, sys *e2e.System, agent *careful) {
	t.Helper()
	s := &story{user: sys.User(t, "alice")}
	s.session = mustCreate(t, s.user, nil)
	s.followers = mustFollow(t, s.user, s.session, "watcher")
	_, s.run = mustRun(t, s.user, s.session, "hello", e2e.M{"agent": "careful"})
	s.awaitWords(t, 5)
	if n := sys.KillWorkers(t, "runner"); n != 1 {
		t.Fatalf("%d runners were killed", n)
	}
	outlast(t, sys)
	mustSweep(t, sys)
	s.followers[0].Until(t, "the end of the run", answered(s.run))
	thread := mustAgree(t, s.user, s.session, s.followers)
	got := answers(view.Session{Items: thread.Items}, s.run)
	if thread.Status != view.Idle || len(got) != 3 || got[1].Status != view.EventFailed || got[2].Status != view.EventCompleted {
		t.Fatalf("the thread is %s: %+v", thread.Status, got)
	}
	if said := textOf(got[1]); !strings.HasPrefix(said, s.said) || textOf(got[2]) != "and the rest" {
		t.Errorf("%q was shown, but the thread has %q", s.said, textsOf(got))
	}
	if first, last := string(got[1].Fields["continuation"]), string(got[2].Fields["continuation"]); first != "" || last != "1" {
		t.Errorf("the interrupted item is of continuation %q, the last of %q", first, last)
	}
	var problem struct{ Code string }
	if err := json.Unmarshal(got[1].Fields["error"], &problem); err != nil || problem.Code != "interrupted" {
		t.Errorf("the interrupted item has the error %s", got[1].Fields["error"])
	}
	if run := s.user.Get(s.session + "/runs/" + s.run).Want(200); run.Str("data.status") != "completed" || run.Int("data.continuations") != 1 {
		t.Errorf("the run is %s", run.Body)
	}
	calls := agent.asked()
	if len(calls) != 2 || calls[1].RunID != s.run || calls[1].Continuation != 1 || len(calls[1].Events) != 1 || len(calls[1].Said) != 2 {
		t.Fatalf("the agent was called with %+v", calls)
	}
	if len(calls[1].Unanswered) != 1 || calls[1].Unanswered[0] != "c1" {
		t.Errorf("unanswered calls: %q", calls[1].Unanswered)
	}
}
