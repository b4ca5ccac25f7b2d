package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
)

// goExecutor is an agent of a2a-go's server whose answers depend on the first word of
// the last part.
type goExecutor struct{ cancelled atomic.Int32 }

func (e *goExecutor) Execute(ctx context.Context, in *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		last := in.Message.Parts[len(in.Message.Parts)-1]
		if in.StoredTask == nil && !yield(a2a.NewSubmittedTask(in, in.Message), nil) {
			return
		}
		if data, ok := last.Data().(map[string]any); ok {
			e.say(in, yield, fmt.Sprint("Decided ", data["response"]))
			return
		}
		switch last.Text() {
		case "ask":
			call := a2a.NewDataPart(map[string]any{"id": "f1", "name": "confirm", "args": map[string]any{}})
			call.SetMeta("adk_type", "function_call")
			call.SetMeta("adk_is_long_running", true)
			yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateInputRequired, a2a.NewMessageForTask(a2a.MessageRoleAgent, in, call)), nil)
		case "fail":
			yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateFailed, a2a.NewMessageForTask(a2a.MessageRoleAgent, in, a2a.NewTextPart("No stock."))), nil)
		case "endless":
			if yield(a2a.NewArtifactEvent(in, a2a.NewTextPart("word")), nil) {
				<-ctx.Done()
			}
		default:
			e.say(in, yield, in.ContextID+": ", fmt.Sprint(len(in.Message.Parts), " parts"))
		}
	}
}

// say answers with an artifact in chunks.
func (e *goExecutor) say(in *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool, chunks ...string) {
	first := a2a.NewArtifactEvent(in, a2a.NewTextPart(chunks[0]))
	if !yield(first, nil) {
		return
	}
	for _, c := range chunks[1:] {
		if !yield(a2a.NewArtifactUpdateEvent(in, first.Artifact.ID, a2a.NewTextPart(c)), nil) {
			return
		}
	}
	yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateCompleted, nil), nil)
}

func (e *goExecutor) Cancel(_ context.Context, in *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	e.cancelled.Add(1)
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateCanceled, nil), nil)
	}
}

// newGoAgent returns an agent behind a2a-go's server.
func newGoAgent(t *testing.T, old, streaming bool) (*agent.A2A, *goExecutor) {
	t.Helper()
	e := &goExecutor{}
	handler := a2asrv.NewHandler(e, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	rpc, version := a2asrv.NewJSONRPCHandler(handler), a2a.ProtocolVersion("1.0")
	if old {
		rpc, version = a2av0.NewJSONRPCHandler(handler), a2a.ProtocolVersion("0.3.0")
	}
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	card := &a2a.AgentCard{
		Name: "go", Capabilities: a2a.AgentCapabilities{Streaming: streaming},
		SupportedInterfaces: []*a2a.AgentInterface{{URL: s.URL + "/rpc", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: version}},
	}
	mux.Handle("POST /rpc", rpc)
	mux.Handle("GET "+a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	a := agent.NewA2A(agent.Endpoint{URL: s.URL, Timeouts: patient()}, "")
	t.Cleanup(a.Close)
	return a, e
}

func TestA2A_calls_servers_of_a2a_go(t *testing.T) {
	for _, old := range []bool{false, true} {
		for _, streaming := range []bool{true, false} {
			t.Run(fmt.Sprintf("0.3 %v, streaming %v", old, streaming), func(t *testing.T) { playWithGoAgent(t, old, streaming) })
		}
	}
}

func playWithGoAgent(t *testing.T, old, streaming bool) {
	t.Helper()
	a, e := newGoAgent(t, old, streaming)
	goOn := func(req run.Request) *recorder {
		t.Helper()
		r := &recorder{t: t}
		if err := a.Run(t.Context(), req, ignoringRun(r)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := positioned(ask(t, "hello"))
	begun := goOn(first)
	where, _, _ := strings.Cut(begun.text(), ":")
	if where == "" || begun.text() != where+": 1 parts" || len(begun.events) != 1 {
		t.Fatalf("the answer is %s", begun.contents())
	}
	next := then(t, first, begun, "hello")
	if got := goOn(next).text(); got != where+": 1 parts" {
		t.Errorf("the context does not continue: %s, not %s", got, where)
	}
	next.Epoch++
	if got := goOn(next).text(); strings.HasPrefix(got, where) || !strings.HasSuffix(got, ": 2 parts") {
		t.Errorf("after a rewind the context %s", got)
	}
	question := positioned(ask(t, "ask"))
	asked := goOn(question)
	if ids := string(asked.events[0].Fields["long_running_tool_ids"]); ids != `["f1"]` {
		t.Errorf("the question is %s with %s", asked.contents(), ids)
	}
	reply := then(t, question, asked, "yes")
	reply.Events[len(reply.Events)-1].Fields["content"] = json.RawMessage(
		`{"role":"user","parts":[{"function_response":{"id":"f1","name":"confirm","response":{"ok":true}}}]}`)
	if got := goOn(reply); got.contents() != `[{"text":"Decided map[ok:true]"}]` {
		t.Errorf("the decision is %s", got.contents())
	}
	_, err := record(t, a, ask(t, "fail"))
	wantError(t, err, "agent_failed", "No stock.")
	ctx, cancel := cancelledBy(t)
	err = a.Run(ctx, ask(t, "endless"), func(o run.Output) error {
		if o.Delta != nil {
			cancel(errStopped)
		}
		return nil
	})
	if !errors.Is(err, errStopped) || e.cancelled.Load() != 1 {
		t.Errorf("%v, cancelled %d times", err, e.cancelled.Load())
	}
}
