package a2a_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

func TestAgent_faults(t *testing.T) {
	begun := func(more ...string) http.HandlerFunc {
		return results(append([]string{task("TASK_STATE_WORKING"), chunk("a", `{"text":"So far."}`, false)}, more...)...)
	}
	for name, c := range map[string]struct {
		answer     http.HandlerFunc
		code, says string
		cancels    bool
		keeps      string // what came before the fault
	}{
		"a failed task":          {begun(status("TASK_STATE_FAILED", "m", `{"text":"No stock."}`)), "agent_failed", "No stock.", false, "So far."},
		"a code":                 {begun(`{"statusUpdate":{` + ofTask + `,"status":{"state":"TASK_STATE_FAILED","message":{"messageId":"m","parts":[{"text":"x"}],"metadata":{"adk_error_code":"SAFETY"}}}}}`), "SAFETY", "x", false, "So far."},
		"a rejected task":        {begun(status("TASK_STATE_REJECTED", "", "")), "rejected", "without saying why", false, "So far."},
		"a canceled task":        {begun(status("TASK_STATE_CANCELED", "", "")), endpoint.CodeAgentCancelled, "canceled", false, "So far."},
		"a JSON-RPC error":       {rpcFailure(-32603, "a secret-token leaked"), endpoint.CodeA2A, "-32603", false, ""},
		"an error in the stream": {agenttest.Streams("data: {\"result\":" + task("TASK_STATE_WORKING") + "}\n\ndata: {\"error\":{\"code\":-32000,\"message\":\"m\"}}\n\n"), endpoint.CodeA2A, "-32000", true, ""},
		"an error with a status": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(rw, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"m"}}`)
		}, endpoint.CodeA2A, "-32602", false, ""},
		"an unauthorized request":   {says401, endpoint.CodeRefused, "401", false, ""},
		"malformed JSON":            {agenttest.Streams("data: {\n\n"), endpoint.CodeProtocol, "malformed", false, ""},
		"a result of no kind":       {results(`{"artifact":{}}`), endpoint.CodeProtocol, "malformed", false, ""},
		"a task without an id":      {results(`{"task":{"status":{"state":"TASK_STATE_WORKING"}}}`), endpoint.CodeProtocol, "malformed", false, ""},
		"a part of no kind":         {begun(chunk("a", `{}`, true)), endpoint.CodeProtocol, "part", true, "So far."},
		"a file that is not base64": {begun(chunk("b", `{"raw":"%"}`, false)), endpoint.CodeProtocol, "base64", true, "So far."},
		"an answer that ends early": {dropped(), endpoint.CodeEndedEarly, "ended early", false, ""},
		"too much in one item":      {begun(chunk("a", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`, true)), run.CodeLimit, "item of more", true, "So far."},
		"too large an event":        {agenttest.Streams("data: " + strings.Repeat("x", 3<<20) + "\n\n"), run.CodeLimit, "event of more", false, ""},
		"another content type":      {agenttest.Says("text/html", "<p>"), endpoint.CodeProtocol, "text/html", false, ""},
		"a redirect to another host": {func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://other.invalid/", http.StatusTemporaryRedirect)
		}, endpoint.CodeRefused, "redirects", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newA2AFake(t, currentCard).on("SendStreamingMessage", c.answer)
			if c.cancels {
				f.on("CancelTask", result(task("TASK_STATE_CANCELED")))
			}
			a := f.agentWith(agentconfig.Endpoint{Timeouts: agenttest.Patient(), Header: http.Header{"Authorization": {"Bearer secret-token"}}}, "")
			r, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, c.says)
			if strings.Contains(err.Error(), "secret-token") {
				t.Errorf("%v has a secret", err)
			}
			if got := strings.Contains(f.methods(), "CancelTask"); got != c.cancels {
				t.Errorf("called %s", f.methods())
			}
			if log := strings.Join(r.Log, "\n"); !strings.Contains(log, c.keeps) {
				t.Errorf("what came before is lost: %s", log)
			}
		})
	}
}

func says401(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) }

func TestAgent_retries_a_busy_agent_with_the_same_message(t *testing.T) {
	f := newA2AFake(t, currentCard).
		on("SendStreamingMessage", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTooManyRequests) })
	agenttest.MustRecord(t, answering("Hi.")(f).agent(), agenttest.Ask(t, "hi"))
	id := func(i int) any {
		m, _ := f.asked[i].Params["message"].(map[string]any)
		return m["messageId"]
	}
	if f.methods() != "SendStreamingMessage SendStreamingMessage" || id(0) != id(1) {
		t.Errorf("called %s with %v and %v", f.methods(), id(0), id(1))
	}
}

func TestAgent_ends_a_silent_agent(t *testing.T) {
	// A busy machine may need longer until the agent has got the task.
	for idle := 10 * time.Millisecond; ; idle *= 4 {
		f := newA2AFake(t, currentCard).on("SendStreamingMessage", func(rw http.ResponseWriter, r *http.Request) {
			results(task("TASK_STATE_WORKING"))(rw, r)
			_ = http.NewResponseController(rw).Flush()
			<-r.Context().Done()
		}).on("CancelTask", result(task("TASK_STATE_CANCELED")))
		timeouts := agenttest.Patient()
		timeouts.Idle = idle
		_, err := agenttest.Record(t, f.agentWith(agentconfig.Endpoint{Timeouts: timeouts}, ""), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeTimeout, "silent")
		if f.methods() == "SendStreamingMessage CancelTask" {
			return
		}
		if idle > time.Minute {
			t.Fatalf("called %s", f.methods())
		}
	}
}

func TestAgent_cancels_the_task_of_a_cancelled_run(t *testing.T) {
	for name, stop := range map[string]func(cancel context.CancelCauseFunc) error{
		"by its context":  func(cancel context.CancelCauseFunc) error { cancel(agenttest.ErrStopped); return nil },
		"by its receiver": func(context.CancelCauseFunc) error { return agenttest.ErrStopped },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := agenttest.CancelledBy(t)
			f := newA2AFake(t, currentCard).on("SendStreamingMessage", func(rw http.ResponseWriter, r *http.Request) {
				results(task("TASK_STATE_WORKING"), chunk("a", `{"text":"So"}`, false))(rw, r)
				_ = http.NewResponseController(rw).Flush()
				<-r.Context().Done()
			}).on("CancelTask", result(task("TASK_STATE_CANCELED")))
			err := f.agent().Run(ctx, agenttest.Ask(t, "hi"), func(o run.Output) error {
				if o.Delta != nil {
					return stop(cancel)
				}
				return nil
			})
			if !errors.Is(err, agenttest.ErrStopped) || f.methods() != "SendStreamingMessage CancelTask" || f.asked[1].Params["id"] != "t1" {
				t.Errorf("%v after %s", err, f.methods())
			}
		})
	}
}

func TestAgent_card(t *testing.T) {
	for name, c := range map[string]struct{ card, says string }{
		"none":                          {"", "malformed"},
		"an array":                      {"[]", "malformed"},
		"without interfaces":            {"{}", "offers nothing"},
		"with gRPC only":                {`{"supportedInterfaces":[{"url":"URL","protocolBinding":"GRPC","protocolVersion":"1.0"}]}`, "offers GRPC 1.0"},
		"with another host":             {`{"supportedInterfaces":[{"url":"http://other.invalid/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, "another host"},
		"of 0.3 with another host":      {`{"url":"http://other.invalid/rpc","protocolVersion":"0.3.0"}`, "another host"},
		"with the host as a user":       {`{"url":"http://127.0.0.1@other.invalid/","protocolVersion":"0.3.0"}`, "another host"},
		"of a version that is not here": {`{"supportedInterfaces":[{"url":"URL/rpc","protocolBinding":"JSONRPC","protocolVersion":"2.0"}]}`, "offers JSONRPC 2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newA2AFake(t, c.card)
			_, err := agenttest.Record(t, f.agent(), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, endpoint.CodeCard, c.says)
			if f.methods() != "" {
				t.Errorf("called %s", f.methods())
			}
		})
	}
	t.Run("is read once", func(t *testing.T) {
		f := answering("b")(answering("a")(newA2AFake(t, currentCard)))
		a := f.agent()
		agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
		agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
		if f.cards != 1 {
			t.Errorf("read %d times", f.cards)
		}
	})
	t.Run("is read again after a refusal", func(t *testing.T) {
		f := answering("a")(newA2AFake(t, currentCard).on("SendStreamingMessage", rpcFailure(-32009, "this version is gone")))
		a := f.agent()
		_, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeA2A, "-32009")
		agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
		if f.cards != 2 {
			t.Errorf("read %d times", f.cards)
		}
	})
	t.Run("missing", func(t *testing.T) {
		f := newA2AFake(t, currentCard)
		_, err := agenttest.Record(t, f.agentWith(agentconfig.Endpoint{Timeouts: agenttest.Patient()}, f.url+"/elsewhere"), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeCard, "404")
	})
	t.Run("at an address of its own", func(t *testing.T) {
		f := answering("a")(newA2AFake(t, currentCard))
		agenttest.MustRecord(t, f.agentWith(agentconfig.Endpoint{Timeouts: agenttest.Patient()}, f.url+"/x/.well-known/agent-card.json"), agenttest.Ask(t, "hi"))
	})
}
