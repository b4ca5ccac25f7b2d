package a2a_test

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

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/rethread/rethread/shared/client/agent/a2a"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
)

// goExecutor is an agent of a2a-go's server whose answers depend on the first word of
// the last part.
type goExecutor struct{ cancelled atomic.Int32 }

func (e *goExecutor) Execute(ctx context.Context, in *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		last := in.Message.Parts[len(in.Message.Parts)-1]
		if last.Text() == "break" {
			yield(nil, errors.New("out of order"))
			return
		}
		if in.StoredTask == nil && !yield(sdk.NewSubmittedTask(in, in.Message), nil) {
			return
		}
		if data, ok := last.Data().(map[string]any); ok {
			e.say(in, yield, fmt.Sprint("Decided ", data["response"]))
			return
		}
		switch last.Text() {
		case "ask":
			call := sdk.NewDataPart(map[string]any{"id": "f1", "name": "confirm", "args": map[string]any{}})
			call.SetMeta("adk_type", "function_call")
			call.SetMeta("adk_is_long_running", true)
			yield(sdk.NewStatusUpdateEvent(in, sdk.TaskStateInputRequired, sdk.NewMessageForTask(sdk.MessageRoleAgent, in, call)), nil)
		case "fail":
			yield(sdk.NewStatusUpdateEvent(in, sdk.TaskStateFailed, sdk.NewMessageForTask(sdk.MessageRoleAgent, in, sdk.NewTextPart("No stock."))), nil)
		case "endless":
			if yield(sdk.NewArtifactEvent(in, sdk.NewTextPart("word")), nil) {
				<-ctx.Done()
			}
		default:
			e.say(in, yield, in.ContextID+": ", fmt.Sprint(len(in.Message.Parts), " parts"))
		}
	}
}

// say answers with an artifact in chunks.
func (e *goExecutor) say(in *a2asrv.ExecutorContext, yield func(sdk.Event, error) bool, chunks ...string) {
	first := sdk.NewArtifactEvent(in, sdk.NewTextPart(chunks[0]))
	if !yield(first, nil) {
		return
	}
	for _, c := range chunks[1:] {
		if !yield(sdk.NewArtifactUpdateEvent(in, first.Artifact.ID, sdk.NewTextPart(c)), nil) {
			return
		}
	}
	yield(sdk.NewStatusUpdateEvent(in, sdk.TaskStateCompleted, nil), nil)
}

func (e *goExecutor) Cancel(_ context.Context, in *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	e.cancelled.Add(1)
	return func(yield func(sdk.Event, error) bool) {
		yield(sdk.NewStatusUpdateEvent(in, sdk.TaskStateCanceled, nil), nil)
	}
}

// newGoAgent returns an agent behind a2a-go's server.
func newGoAgent(t *testing.T, old, streaming bool) (*a2a.Agent, *goExecutor) {
	t.Helper()
	e := &goExecutor{}
	handler := a2asrv.NewHandler(e, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	rpc, version := a2asrv.NewJSONRPCHandler(handler), sdk.ProtocolVersion("1.0")
	if old {
		rpc, version = a2av0.NewJSONRPCHandler(handler), sdk.ProtocolVersion("0.3.0")
	}
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	card := &sdk.AgentCard{
		Name: "go", Capabilities: sdk.AgentCapabilities{Streaming: streaming},
		SupportedInterfaces: []*sdk.AgentInterface{{URL: s.URL + "/rpc", ProtocolBinding: sdk.TransportProtocolJSONRPC, ProtocolVersion: version}},
	}
	mux.Handle("POST /rpc", rpc)
	mux.Handle("GET "+a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	a := a2a.New(agentconfig.Endpoint{URL: s.URL, Timeouts: agenttest.Patient()}, "")
	t.Cleanup(a.Close)
	return a, e
}

func TestAgent_calls_servers_of_a2a_go(t *testing.T) {
	for _, old := range []bool{false, true} {
		for _, streaming := range []bool{true, false} {
			t.Run(fmt.Sprintf("0.3 %v, streaming %v", old, streaming), func(t *testing.T) { playWithGoAgent(t, old, streaming) })
		}
	}
}

func playWithGoAgent(t *testing.T, old, streaming bool) {
	t.Helper()
	a, e := newGoAgent(t, old, streaming)
	goOn := func(req run.Request) *agenttest.Recorder {
		t.Helper()
		r := &agenttest.Recorder{T: t}
		err := a.Run(t.Context(), req, ignoringRun(r))
		// The server answers before it has forgotten the execution of the task, and
		// until then it refuses other messages to the task.
		for try := 0; try < 1000 && err != nil && strings.Contains(err.Error(), "task execution is already in progress"); try++ {
			err = a.Run(t.Context(), req, ignoringRun(r))
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := positioned(agenttest.Ask(t, "hello"))
	begun := goOn(first)
	where, _, _ := strings.Cut(begun.Text(), ":")
	if where == "" || begun.Text() != where+": 1 parts" || len(begun.Events) != 1 {
		t.Fatalf("the answer is %s", begun.Contents())
	}
	next := then(t, first, begun, "hello")
	if got := goOn(next).Text(); got != where+": 1 parts" {
		t.Errorf("the context does not continue: %s, not %s", got, where)
	}
	next.Epoch++
	if got := goOn(next).Text(); strings.HasPrefix(got, where) || !strings.HasSuffix(got, ": 2 parts") {
		t.Errorf("after a rewind the context %s", got)
	}
	question := positioned(agenttest.Ask(t, "ask"))
	asked := goOn(question)
	if ids := string(asked.Events[0].Fields["long_running_tool_ids"]); ids != `["f1"]` {
		t.Errorf("the question is %s with %s", asked.Contents(), ids)
	}
	reply := then(t, question, asked, "yes")
	reply.Events[len(reply.Events)-1].Fields["content"] = json.RawMessage(
		`{"role":"user","parts":[{"function_response":{"id":"f1","name":"confirm","response":{"ok":true}}}]}`)
	if got := goOn(reply); got.Contents() != `[{"text":"Decided map[ok:true]"}]` {
		t.Errorf("the decision is %s", got.Contents())
	}
	_, err := agenttest.Record(t, a, agenttest.Ask(t, "fail"))
	agenttest.WantError(t, err, "agent_failed", "No stock.")
	_, err = agenttest.Record(t, a, agenttest.Ask(t, "break"))
	agenttest.WantError(t, err, "a2a_error", "JSON-RPC")
	ctx, cancel := agenttest.CancelledBy(t)
	err = a.Run(ctx, agenttest.Ask(t, "endless"), func(o run.Output) error {
		if o.Delta != nil {
			cancel(agenttest.ErrStopped)
		}
		return nil
	})
	if !errors.Is(err, agenttest.ErrStopped) || e.cancelled.Load() != 1 {
		t.Errorf("%v, cancelled %d times", err, e.cancelled.Load())
	}
}
