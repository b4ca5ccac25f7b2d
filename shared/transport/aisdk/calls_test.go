package aisdk_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/session"
)

// Agents of the types http and chat_completions do not mark their calls: one without a
// response is a question to the person, live and after a reload.
func TestCallThatIsNotMarked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.chat(t, list("u1"))
	w := r.Work(t)
	w.CompleteItem(t, `{"function_call":{"id":"own","name":"search","args":{}}}`, nil)
	w.Begin(t)
	w.CompleteItem(t, `{"function_response":{"id":"own","name":"search","response":{}}}`, nil)
	w.Begin(t)
	w.Complete(t, `{"function_call":{"id":"c1","name":"confirm","args":{"n":1}}}`, nil)
	s.End(t)
	executed := map[any]any{}
	for _, c := range s.All {
		if c["type"] == "tool-input-available" {
			executed[c["toolCallId"]] = c["providerExecuted"]
		}
	}
	if executed["own"] != true || executed["c1"] != false || s.Last()["finishReason"] != "tool-calls" {
		t.Errorf("executed by the agent: %v, the end is %v", executed, s.Last())
	}
	messages := r.Call(t, "alice", http.MethodGet, "/ai-sdk/helper/s/messages", "")
	if strings.Count(messages.Body, `"providerExecuted":true`) != 1 || strings.Contains(messages.Body, `"providerExecuted":false`) {
		t.Errorf("a reload has %s", messages.Body)
	}
	answered := r.chat(t, `"messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"u1"}]},{"id":"`+w.Ref.RunID+
		`","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"confirm","toolCallId":"c1","state":"output-available","output":"yes"}]}]`)
	r.Work(t).Complete(t, `{"text":"Done."}`, nil)
	answered.End(t)
	messages = r.Call(t, "alice", http.MethodGet, "/ai-sdk/helper/s/messages", "")
	if strings.Count(messages.Body, `"providerExecuted":true`) != 1 || !strings.Contains(messages.Body, `"output":"yes"`) {
		t.Errorf("after the answer a reload has %s", messages.Body)
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{"length": "length", "SAFETY": "content-filter", "STOP": "stop"} {
		r := newRig(t)
		s := r.chat(t, list("u1"))
		r.Work(t).Complete(t, `{"text":"a"}`, func(e *session.Event) { e.Fields["finish_reason"] = json.RawMessage(`"` + reason + `"`) })
		if s.End(t); s.Last()["finishReason"] != want {
			t.Errorf("%s ends with %v", reason, s.Last())
		}
	}
}

func TestToolOutput(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		`"state":"output-available","output":"yes"`:                                   `{"result":"yes"}`,
		`"state":"output-available","output":{"n":9007199254740993}`:                  `{"n":9007199254740993}`,
		`"state":"output-error","errorText":"no"`:                                     `{"error":"no"}`,
		`"state":"approval-responded","approval":{"id":"a","approved":true,"x":null}`: `{"approved":true}`,
	} {
		t.Run("answers a call with "+state, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			s := r.chat(t, list("u1"))
			w := r.Work(t)
			w.Complete(t, `{"function_call":{"id":"c1","name":"confirm","args":{"n":1}}}`, func(e *session.Event) {
				e.Fields["long_running_tool_ids"] = json.RawMessage(`["c1"]`)
			})
			s.End(t)
			if end := s.Last(); end["finishReason"] != "tool-calls" {
				t.Errorf("got the end %v", end)
			}
			body := `"messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"u1"}]},{"id":"` + w.Ref.RunID +
				`","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"confirm","toolCallId":"c1",` + state + `}]}]`
			answered := r.chat(t, body)
			next := r.Work(t)
			next.Write(t, "Done.")
			resumed := r.resume(t)
			resumed.UntilText(t)
			next.Complete(t, `{"text":"Done."}`, nil)
			resumed.End(t)
			answer := "tool-output-available"
			if strings.Contains(state, "errorText") {
				answer = "tool-output-error"
			}
			mustEnd(t, r.chat(t, body), strings.Replace(whole, "start-step", answer+" start-step", 1), "Done.")
			answered.End(t)
			if answered.All[0]["messageId"] != w.Ref.RunID || resumed.All[3]["type"] != "start-step" || resumed.All[4]["toolCallId"] != "c1" {
				t.Errorf("the message is not continued: %v %v", answered.All, resumed.All)
			}
			page, err := r.Store.Sessions.Events(t.Context(), "alice", "s", session.EventQuery{View: session.Effective, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(page.Events[2].Fields["content"]); !strings.Contains(got, `"response":`+want) {
				t.Errorf("the agent gets %s", got)
			}
			if parts := r.messages(t)[1]["parts"].([]any); len(parts) != 4 {
				t.Errorf("got %v", parts)
			}
		})
	}
}
