package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient returns timeouts that no test reaches, and retries without waits.
func patient() agent.Timeouts {
	const long = time.Minute
	return agent.Timeouts{Connect: long, FirstByte: long, Idle: long, Backoff: time.Millisecond}
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// says returns a server with one answer.
func says(mediaType, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		rw.Header().Set("Content-Type", mediaType)
		_, _ = io.WriteString(rw, body)
	}
}

func streams(body string) http.HandlerFunc { return says("text/event-stream", body) }

func newHTTP(t *testing.T, h http.Handler) *agent.HTTP {
	t.Helper()
	return newHurriedHTTP(t, h, patient())
}

func newHurriedHTTP(t *testing.T, h http.Handler, timeouts agent.Timeouts) *agent.HTTP {
	t.Helper()
	a := agent.NewHTTP(agent.Endpoint{URL: serve(t, h), Timeouts: timeouts})
	t.Cleanup(a.Close)
	return a
}

func newChat(t *testing.T, h http.Handler, c agent.Chat) *agent.ChatCompletions {
	t.Helper()
	a := agent.NewChatCompletions(agent.Endpoint{URL: serve(t, h) + "/v1/", Timeouts: patient()}, c)
	t.Cleanup(a.Close)
	return a
}

func mustEvent(t *testing.T, raw string) session.Event {
	t.Helper()
	e, err := session.ParseEvent(json.RawMessage(raw), "")
	if err != nil {
		t.Fatalf("parse %s: %v", raw, err)
	}
	return e
}

// ask returns a request whose input is one text of the user.
func ask(t *testing.T, texts ...string) run.Request {
	t.Helper()
	req := run.Request{RunID: "run-1", SessionID: "s", AppName: "app", UserID: "alice", Agent: "helper"}
	for _, text := range texts {
		raw, err := json.Marshal(map[string]any{
			"invocation_id": "run-1", "author": "user",
			"content": map[string]any{"role": "user", "parts": []any{map[string]string{"text": text}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		req.Events = append(req.Events, mustEvent(t, string(raw)))
	}
	return req
}

// recorder records an agent's output and checks the contract of run.Output.
type recorder struct {
	t       *testing.T
	log     []string
	open    *run.ItemStart
	content *run.Content
	events  []session.Event // complete ones
}

func (r *recorder) emit(o run.Output) error {
	switch {
	case o.Item != nil && o.Delta == nil && o.Event == nil && !o.Completes:
		if r.open != nil {
			r.t.Errorf("item %+v begins while %+v is in progress", o.Item, r.open)
		}
		r.open, r.content = o.Item, run.NewContent(o.Item.Role)
		r.log = append(r.log, strings.TrimSpace(fmt.Sprintf("item %s %s %s", o.Item.ID, o.Item.Author, o.Item.Role)))
	case o.Delta != nil && o.Event == nil && !o.Completes:
		if r.open == nil {
			r.t.Errorf("delta %+v without an item", o.Delta)
		} else if err := r.content.Append(*o.Delta, ""); err != nil {
			r.t.Errorf("delta %+v: %v", o.Delta, err)
		}
		raw, err := json.Marshal(o.Delta)
		if err != nil {
			r.t.Error(err)
		}
		r.log = append(r.log, "delta "+string(raw))
	case o.Event != nil:
		r.event(o)
	default:
		r.t.Errorf("output %+v", o)
	}
	return nil
}

func (r *recorder) event(o run.Output) {
	kind := "event "
	if o.Completes {
		kind = "completed "
		if r.open == nil || r.open.ID != o.Event.ID || jsonx.IsNull(o.Event.Fields["content"]) {
			r.t.Errorf("%s completes %+v", o.Event.Own(), r.open)
		}
		r.open = nil
	}
	if o.Event.InvocationID != "run-1" || o.Event.Author == "" {
		r.t.Errorf("event %s", o.Event.Own())
	}
	r.events = append(r.events, *o.Event)
	r.log = append(r.log, kind+string(o.Event.Own()))
}

// text returns the text of all completed events.
func (r *recorder) text() string {
	var out strings.Builder
	for _, e := range r.events {
		var c struct {
			Parts []struct {
				Text    string
				Thought bool
			}
		}
		if err := json.Unmarshal(e.Fields["content"], &c); err != nil {
			r.t.Errorf("content of %s: %v", e.Own(), err)
		}
		for _, p := range c.Parts {
			if !p.Thought {
				out.WriteString(p.Text)
			}
		}
	}
	return out.String()
}

func record(t *testing.T, a run.Agent, req run.Request) (*recorder, error) {
	t.Helper()
	r := &recorder{t: t}
	err := a.Run(t.Context(), req, r.emit)
	if err == nil && r.open != nil {
		t.Errorf("done with %+v in progress", r.open)
	}
	return r, err
}

func mustRecord(t *testing.T, a run.Agent, req run.Request) *recorder {
	t.Helper()
	r, err := record(t, a, req)
	if err != nil {
		t.Fatalf("run: %v\nafter %q", err, r.log)
	}
	return r
}

// wantError checks the code of an *agent.Error and that its message contains a text.
func wantError(t *testing.T, err error, code, says string) {
	t.Helper()
	var failed *agent.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want an agent's error", err)
	}
	if failed.Code != code || !strings.Contains(failed.Message, says) {
		t.Errorf("got %q %q (%s), want %q … %q", failed.Code, failed.Message, failed.Detail, code, says)
	}
	if p := failed.Problem(); p.Code != code || p.Message != failed.Message {
		t.Errorf("problem %+v", p)
	}
}

var errStopped = errors.New("the receiver has had enough")

// cancelledBy returns a context that ends with the given cause.
func cancelledBy(t *testing.T) (context.Context, context.CancelCauseFunc) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}
