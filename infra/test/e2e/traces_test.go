package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/otlp"
)

// spans collects the functions' traces, as a receiver of OTLP over HTTP.
type spans struct {
	url string

	mu  sync.Mutex
	all []span
	raw strings.Builder
}

// span is one span, with the name of the function from its resource.
type span struct {
	*traces.Span
	function string
}

func newSpans(t *testing.T) *spans {
	t.Helper()
	s := &spans{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// ServeHTTP implements http.Handler.
func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	req, parseErr := otlp.Parse(body)
	if err != nil || parseErr != nil || r.URL.Path != "/v1/traces" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw.Write(body)
	for _, r := range req.ResourceSpans {
		for _, scope := range r.ScopeSpans {
			for _, one := range scope.Spans {
				s.all = append(s.all, span{one, attribute(r.Resource.Attributes, "faas.name")})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // the empty answer accepts everything
}

// mustFind waits for a span that looks as expected.
func (s *spans) mustFind(t *testing.T, what string, looks func(span) bool) span {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(e2e.Patience); time.Now().Before(until); <-tick.C {
		for _, one := range s.seen() {
			if looks(one) {
				return one
			}
		}
	}
	var names []string
	for _, one := range s.seen() {
		names = append(names, one.function+": "+one.Name)
	}
	t.Fatalf("no span is %s among\n%s", what, strings.Join(names, "\n"))
	return span{}
}

func (s *spans) seen() []span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]span{}, s.all...)
}

// text is everything received, unchanged.
func (s *spans) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// attribute is the string value of an attribute, "" if it is missing.
func attribute(all []*common.KeyValue, name string) string {
	for _, a := range all {
		if a.Key == name {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// below returns a predicate for a span with a name whose parent is the given span.
func below(parent span, name string) func(span) bool {
	return func(s span) bool {
		return s.Name == name && string(s.ParentSpanId) == string(parent.SpanId) && string(s.TraceId) == string(parent.TraceId)
	}
}

// testTraces follows the traces of runs through all functions.
func testTraces(t *testing.T, sys *e2e.System) {
	t.Helper()
	parents := make(chan string, 10) // as received by the agent
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parents <- r.Header.Get("Traceparent")
		w.Header().Set("Content-Type", "text/event-stream")
		if _, err := io.WriteString(w, "event: delta\ndata: {\"part\": 0, \"text\": \"I\"}\n\nevent: done\ndata: {}\n\n"); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(agent.Close)
	collected := newSpans(t)
	sys = sys.Another(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collected.url, fmt.Sprintf(`AGENTS={"guide": {"type": "http", "url": %q}}`, agent.URL))
	alice := sys.User(t, "alice-"+uuid.NewString())
	secret := "marker-" + uuid.NewString()
	session := mustCreate(t, alice, e2e.M{"id": "traced", "agent": "guide", "name": secret})
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	answer := alice.Post(session+"/runs", e2e.M{"input": []e2e.M{says(secret)}}, e2e.Header("Traceparent", caller)).Want(202)
	run := answer.Str("data.run.id")
	mustEnd(t, alice, session, run, "completed")

	request := collected.mustFind(t, "the request", func(s span) bool { return s.Name == "POST /sessions/{session_id}/runs" })
	if request.Kind != traces.Span_SPAN_KIND_SERVER || request.function != "RunsFunction" ||
		attribute(request.Attributes, "http.route") != "/sessions/{session_id}/runs" ||
		fmt.Sprintf("00-%x-%x-01", request.TraceId, request.ParentSpanId) != caller {
		t.Errorf("the request is traced as %v", request)
	}
	collected.mustFind(t, "a write to the table", func(s span) bool {
		return string(s.ParentSpanId) == string(request.SpanId) && strings.HasPrefix(s.Name, "DynamoDB.")
	})
	collected.mustFind(t, "how the runner was invoked", below(request, "Lambda.Invoke"))
	work := collected.mustFind(t, "the run", func(s span) bool {
		return s.Name == "run" && string(s.TraceId) == string(request.TraceId) && s.function == "RunnerFunction"
	})
	if got, want := alice.Get(session+"/runs/"+run).Want(200).Str("data.trace_id"), fmt.Sprintf("%x", work.TraceId); got != want {
		t.Errorf("the run names the trace %s, want %s", got, want)
	}
	call := collected.mustFind(t, "the agent's call", below(work, "invoke_agent guide"))
	for name, want := range map[string]string{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "guide",
		"gen_ai.conversation.id": "traced", "rethread.run.id": run,
	} {
		if got := attribute(call.Attributes, name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got, want := <-parents, fmt.Sprintf("00-%x-%x-01", call.TraceId, call.SpanId); got != want {
		t.Errorf("the agent got %q, not %q", got, want)
	}
	testTracedDelivery(t, sys, alice, collected, secret)
	if raw := collected.text(); strings.Contains(raw, secret) || strings.Contains(raw, alice.ID) {
		t.Error("spans contain text or names of users")
	}
}

// testTracedDelivery sends a task's notification to a receiver.
func testTracedDelivery(t *testing.T, sys *e2e.System, alice *e2e.User, collected *spans, secret string) {
	t.Helper()
	r := newInbox(t)
	req := say("", secret)
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: r.url + "/?" + secret}}
	mustSend(t, mustDial(t, sys, alice, a2a.TransportProtocolJSONRPC, "1.0"), req)
	r.mustUpTo(t, "TASK_STATE_COMPLETED")
	collected.mustFind(t, "the request of A2A", func(s span) bool { return s.Name == "POST /a2a/{agent}" })
	deliver := collected.mustFind(t, "the delivery", func(s span) bool { return s.Name == "deliveries" })
	post := collected.mustFind(t, "the receiver's call", below(deliver, "POST"))
	if attribute(post.Attributes, "server.address") != "127.0.0.1" {
		t.Errorf("the receiver's call is traced as %v", post)
	}
}
