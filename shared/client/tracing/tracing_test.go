package tracing_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/rethread/rethread/infra/test/otlp"
	"github.com/rethread/rethread/shared/client/tracing"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/run"
)

// receiver accepts spans by OTLP over HTTP: by name, with the reason of a failure.
type receiver struct {
	mu   sync.Mutex
	seen map[string]string
	raw  []byte
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	spans, parseErr := otlp.Parse(body)
	if err != nil || parseErr != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = append(r.raw, body...)
	for _, resource := range spans.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				r.seen[span.Name] = span.Status.GetMessage()
			}
		}
	}
}

type (
	agents map[string]agent
	agent  func(func(run.Output) error) error
	poster func() (delivery.Answer, error)
)

// oneLimited is an agent with a limited history whose runs may be continued.
type oneLimited struct{ agent }

func (o oneLimited) Agent(string) (run.Agent, bool) { return o, true }
func (oneLimited) HistoryLimit() run.HistoryLimit   { return run.HistoryLimit{Turns: 7} }
func (oneLimited) Continuations() int               { return 3 }

func (a agents) Agent(name string) (run.Agent, bool) { one, ok := a[name]; return one, ok }

func (a agent) Run(_ context.Context, _ run.Request, emit func(run.Output) error) error {
	return a(emit)
}

func (p poster) Post(context.Context, delivery.Message) (delivery.Answer, error) { return p() }

// failure is an agent's error, with a text that no span may contain.
type failure struct{}

func (failure) Error() string         { return "they said: secret" }
func (failure) Problem() *run.Problem { return run.NewProblem("agent_refused", "secret") }

func TestTracing(t *testing.T) {
	r := &receiver{seen: map[string]string{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	tracer, err := tracing.New(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx, span := tracer.Begin(t.Context(), trace.SpanKindConsumer, "work", parent)
	if got := tracing.Parent(ctx); !strings.HasPrefix(got, parent[:36]) || got == parent {
		t.Errorf("what goes on elsewhere has %q", got)
	}
	if got := tracing.ID(ctx); got != parent[3:35] {
		t.Errorf("the trace is %q", got)
	}
	all := tracing.Agents{Agents: agents{
		"good": func(emit func(run.Output) error) error { return emit(run.Output{Delta: &content.Delta{}}) },
		"bad":  func(func(run.Output) error) error { return failure{} },
	}}
	for _, name := range []string{"good", "bad"} {
		one, _ := all.Agent(name)
		emitted := 0
		err := one.Run(ctx, run.Request{Agent: name}, func(run.Output) error { emitted++; return nil })
		if good := name == "good"; (err == nil) != good || emitted == 1 != good {
			t.Errorf("%s: %d outputs, %v", name, emitted, err)
		}
	}
	if one, _ := (tracing.Agents{Agents: oneLimited{}}).Agent(""); run.LimitOf(one) != (run.HistoryLimit{Turns: 7}) {
		t.Errorf("a traced agent's history is limited to %+v", run.LimitOf(one))
	}
	if one, _ := (tracing.Agents{Agents: oneLimited{}}).Agent(""); run.ContinuationsOf(one) != 3 {
		t.Errorf("a traced agent's runs may be continued %d times", run.ContinuationsOf(one))
	}
	if _, ok := all.Agent("none"); ok {
		t.Error("there is an agent that is not")
	}
	refused := tracing.Poster{Poster: poster(func() (delivery.Answer, error) {
		return delivery.Answer{}, errors.Join(delivery.ErrRefused, errors.New("secret"))
	})}
	if _, err := refused.Post(ctx, delivery.Message{URL: "https://example.com/secret?secret"}); !errors.Is(err, delivery.ErrRefused) {
		t.Errorf("got %v", err)
	}
	span.End()
	if err := tracer.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	want := map[string]string{"work": "", "invoke_agent good": "", "invoke_agent bad": "agent_refused", "POST": "refused"}
	if diff := cmp.Diff(want, r.seen); diff != "" {
		t.Errorf("spans (-want +got)\n%s", diff)
	}
	if strings.Contains(string(r.raw), "secret") {
		t.Error("a span has words of the agent's, or of an address")
	}
}

func TestTracingOff(t *testing.T) {
	t.Parallel()
	tracer, err := tracing.New(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := tracer.Begin(t.Context(), trace.SpanKindServer, "work", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	span.End()
	if id := tracing.ID(ctx); id != "" {
		t.Errorf("the trace is %s", id)
	}
	if span.IsRecording() || tracing.Parent(ctx) != "" {
		t.Errorf("something is traced: %q", tracing.Parent(ctx))
	}
	if err := tracer.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestReceivers exports one span to receivers that answer in other ways than once with 200.
func TestReceivers(t *testing.T) {
	const tries = 3
	for name, c := range map[string]struct {
		answer  func(n int, w http.ResponseWriter)
		asked   int
		problem string
	}{
		"the first answer is lost": {asked: 2, answer: func(n int, _ http.ResponseWriter) {
			if n == 1 {
				panic(http.ErrAbortHandler)
			}
		}},
		"busy for a while": {asked: tries, answer: func(n int, w http.ResponseWriter) {
			if n < tries {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}},
		"busy":     {asked: tries, problem: "429", answer: func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }},
		"refusing": {asked: 1, problem: "401", answer: func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }},
		"rejecting": {asked: 1, problem: "rejected 1", answer: func(_ int, w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"1"}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			var headers []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				headers = append(headers, r.Header.Get("X-Key")+" "+r.Header.Get("Content-Type"))
				c.answer(asked, w)
			}))
			t.Cleanup(server.Close)
			tracer, err := tracing.New(func(name string) string {
				return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, other=c"}[name]
			})
			if err != nil {
				t.Fatal(err)
			}
			_, span := tracer.Begin(t.Context(), trace.SpanKindServer, "work", "")
			span.End()
			err = tracer.Flush(t.Context())
			if c.problem == "" && err != nil || c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)) {
				t.Errorf("got the error %v", err)
			}
			if asked != c.asked || headers[0] != "a b application/json" {
				t.Errorf("asked %d times, with %q", asked, headers)
			}
		})
	}
	for _, bad := range []string{"http://", "collector:4318", "%"} {
		if _, err := tracing.New(func(string) string { return bad }); err == nil {
			t.Errorf("%q is taken for an address", bad)
		}
	}
}
