package openresponses_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

const whole = "response.created response.in_progress response.output_item.added response.content_part.added " +
	"response.output_text.delta response.output_text.done response.content_part.done response.output_item.done response.completed"

func TestCreate(t *testing.T) {
	t.Parallel()
	t.Run("streams a response, and returns the same one later", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.post(t, `"input":"Hi","stream":true,"metadata":{"a":"b"}`)
		w := r.Work(t)
		w.Write(t, "one ")
		s.UntilText(t)
		w.Write(t, "two")
		w.Complete(t, `{"text":"one two"}`, func(e *session.Event) {
			e.Fields["usage_metadata"] = json.RawMessage(`{"input_tokens":3,"output_tokens":2}`)
		})
		types, said := s.End(t)
		if types != whole || said != "one two" || !s.Done {
			t.Errorf("the stream is %s with %q", types, said)
		}
		last := s.Last()["response"].(object)
		got := r.response(t, last["id"])
		for name, value := range last {
			if a, b := mustText(t, value), mustText(t, got[name]); a != b {
				t.Errorf("%s: streamed %s, then %s", name, a, b)
			}
		}
		if got["status"] != "completed" || text(got) != "one two" || got["usage"].(object)["total_tokens"] != 5.0 ||
			got["metadata"].(object)["a"] != "b" || got["completed_at"] == nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("waits for the response without stream and background", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		go func() {
			w := r.Work(t)
			w.Write(t, "yes")
			w.Complete(t, `{"text":"yes"}`, nil)
		}()
		if got := answer(t, r.post(t, `"input":"Hi"`)); got["status"] != "completed" || text(got) != "yes" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("answers with the response so far when its time is up", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		go func() {
			r.Work(t).Write(t, "so far")
			r.TimeUp()
		}()
		if got := answer(t, r.post(t, `"input":"Hi"`)); got["status"] != "in_progress" || text(got) != "so far" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("answers at once in the background; cancelling ends it, and may be repeated", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		begun := r.begin(t, `"input":"Hi"`)
		r.Work(t).Write(t, "so far")
		path := "/v1/responses/" + begun["id"].(string) + "/cancel"
		for range 2 {
			got := answer(t, r.Call(t, "alice", http.MethodPost, path, ""))
			if got["status"] != "cancelled" || text(got) != "so far" || got["id"] != begun["id"] {
				t.Errorf("got %v", got)
			}
		}
		if begun["status"] != "in_progress" || begun["background"] != true {
			t.Errorf("it began as %v", begun)
		}
		if r.response(t, begun["id"])["status"] != "cancelled" {
			t.Error("it is not cancelled")
		}
		next := r.begin(t, `"input":"x","previous_response_id":"`+begun["id"].(string)+`"`) // what was said stays
		if next["conversation"].(object)["id"] != begun["conversation"].(object)["id"] {
			t.Errorf("it goes on elsewhere: %v", next)
		}
		if got := r.Texts(t, begun["conversation"].(object)["id"].(string)); got != "Hi|so far|x" {
			t.Errorf("the conversation is %s", got)
		}
	})
	t.Run("shows why a response failed", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.post(t, `"input":"Hi","stream":true`)
		r.Work(t).Fail(t, "context_length_exceeded")
		types, _ := s.End(t)
		failed := s.Last()["response"].(object)
		if !strings.HasSuffix(types, "response.failed") || failed["error"].(object)["code"] != "context_length_exceeded" {
			t.Errorf("got %s, %v", types, failed)
		}
		if got := r.response(t, failed["id"]); got["status"] != "failed" {
			t.Errorf("got %v", got)
		}
		mustRefuse(t, r.post(t, `"input":"x","previous_response_id":"`+failed["id"].(string)+`"`), 400,
			"previous_response_id", "previous_response_not_completed")
	})
	t.Run("shows that a response is incomplete", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.post(t, `"input":"Hi","stream":true`)
		r.Work(t).Complete(t, `{"text":"a"}`, func(e *session.Event) { e.Fields["finish_reason"] = json.RawMessage(`"length"`) })
		types, _ := s.End(t)
		got := s.Last()["response"].(object)
		if !strings.HasSuffix(types, "response.incomplete") || got["incomplete_details"].(object)["reason"] != "max_output_tokens" {
			t.Errorf("got %s, %v", types, got)
		}
		if polled := r.response(t, got["id"]); polled["status"] != "incomplete" || mustText(t, polled) != mustText(t, got) {
			t.Errorf("streamed %v, then %v", got, polled)
		}
		again := r.get(t, "responses/"+got["id"].(string)+"?stream=true")
		if types, _ := again.End(t); !strings.HasSuffix(types, "response.incomplete") {
			t.Errorf("streamed again it is %s", types)
		}
	})
	t.Run("the same Idempotency-Key gets the same response", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		for _, target := range []string{"", `,"conversation":"c"`} {
			if target != "" {
				answer(t, r.Call(t, "alice", http.MethodPost, "/v1/conversations", ""))
				if _, err := r.Store.Sessions.Create(t.Context(), session.New{ID: "c", UserID: "alice", Agent: "helper", AppName: "default", Metadata: json.RawMessage(`{}`), Nonce: "n"}); err != nil {
					t.Fatal(err)
				}
			}
			key := "key" + target
			first := r.begin(t, `"input":"Hi"`+target, "Idempotency-Key", key)
			again := r.begin(t, `"input":"Hi"`+target, "Idempotency-Key", key)
			if first["id"] != again["id"] || len(r.Started) != 1 {
				t.Errorf("got %v and %v, %d runs", first["id"], again["id"], len(r.Started))
			}
			r.Work(t).Complete(t, `{"text":"a"}`, nil)
			mustRefuse(t, r.post(t, `"input":"Other"`+target, "Idempotency-Key", key), 409, "Idempotency-Key", "idempotency_key_reused")
			other := r.begin(t, `"input":"Hi"`, "Idempotency-Key", key+"2")
			if other["id"] == first["id"] {
				t.Error("another key gets the same response")
			}
			r.Work(t).Complete(t, `{"text":"a"}`, nil)
		}
	})
	t.Run("one response for many requests with the same Idempotency-Key at once", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		const callers = 6
		answers := make([]*frontendtest.Stream, callers)
		var racing sync.WaitGroup
		for i := range callers {
			racing.Go(func() { answers[i] = r.post(t, `"input":"Hi","background":true`, "Idempotency-Key", "key") })
		}
		racing.Wait()
		ids := map[any]bool{}
		for _, s := range answers {
			ids[answer(t, s)["id"]] = true
		}
		if len(ids) != 1 {
			t.Errorf("got %v", ids)
		}
	})
	t.Run("shows the calls of an agent's own functions that the client answers as calls", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.post(t, `"input":"Hi","stream":true`)
		r.Work(t).Complete(t, `{"text":"hm"},{"function_call":{"id":"c","name":"configured","args":{}}}`, nil)
		s.End(t)
		got := s.Last()["response"].(object)
		call := got["output"].([]any)[1].(object)
		list := answer(t, r.get(t, "conversations/"+conversationOf(got)+"/items?limit=1"))
		item := answer(t, r.get(t, "conversations/"+conversationOf(got)+"/items/"+call["id"].(string)))
		if call["type"] != "function_call" || mustText(t, list["data"].([]any)[0]) != mustText(t, call) || mustText(t, item) != mustText(t, call) {
			t.Errorf("the response has %v, the list %v, the item is %v", call, list["data"], item)
		}
		r.said(t, `"input":[{"type":"function_call_output","call_id":"c","output":"x"}]`+after(got), "y")
	})
	t.Run("a request that crashed before its run can be repeated", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.said(t, `"input":"one"`, "1")
		r.said(t, `"input":"two","previous_response_id":"`+first["id"].(string)+`"`, "2")
		for _, members := range []string{
			`"input":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`,
			`"input":"other","previous_response_id":"` + first["id"].(string) + `"`,
		} {
			r.CrashNextStart()
			key := []string{"Idempotency-Key", members}
			if s := r.post(t, members, key...); s.Status != http.StatusInternalServerError {
				t.Fatalf("got %d %s", s.Status, s.Body)
			}
			got := r.begin(t, members, key...)
			r.Work(t).Complete(t, `{"text":"a"}`, nil)
			if n := len(r.events(t, conversationOf(got))); n != 4 {
				t.Errorf("%s: %d events", members, n)
			}
		}
	})
}

func mustText(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestOffer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const tools = `"tools":[{"type":"function","name":"weather","description":"d","parameters":{"type":"object"},"strict":true},` +
		`{"type":"function","name":"mail"}],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"weather"}]}`
	s := r.post(t, `"input":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"}],"instructions":"Be brief.",`+
		`"temperature":0.5,"top_p":0.1,"text":{"format":{"type":"json_schema","name":"n","schema":{"b":1,"a":2}}},"stream":true,`+tools)
	w := r.Work(t)
	own := r.events(t, w.Ref.SessionID)
	offer := run.Request{Events: own, RunID: w.Ref.RunID}.FrontEnd()
	if offer.Instructions != "Be brief." || !strings.Contains(string(own[0].Fields["content"]), `"role":"system"`) || len(offer.Tools) != 1 || string(offer.ToolChoice) != `"required"` ||
		string(offer.Parameters["temperature"]) != "0.5" || offer.Parameters["top_p"] != nil ||
		string(offer.Parameter("text.format")) != `{"type":"json_schema","name":"n","schema":{"b":1,"a":2}}` {
		t.Errorf("the agent is offered %+v", offer)
	}
	w.Complete(t, `{"function_call":{"id":"call_1","name":"weather","args":{"city":"Rome"}}}`, func(e *session.Event) {
		e.Fields["long_running_tool_ids"] = json.RawMessage(`["call_1"]`)
	})
	types, _ := s.End(t)
	if want := join("response.created response.in_progress response.output_item.added response.function_call_arguments.delta",
		"response.function_call_arguments.done response.output_item.done response.completed"); types != want {
		t.Errorf("the stream is %s", types)
	}
	got := s.Last()["response"].(object)
	call := got["output"].([]any)[0].(object)
	if call["call_id"] != "call_1" || call["arguments"] != `{"city":"Rome"}` || len(got["tools"].([]any)) != 2 ||
		got["top_p"] != 1.0 || got["temperature"] != 0.5 || got["instructions"] != "Be brief." {
		t.Errorf("got %v", got)
	}

	id := got["id"].(string)
	mustRefuse(t, r.post(t, `"previous_response_id":"`+id+`","input":[{"type":"function_call_output","call_id":"none","output":"x"}]`),
		400, "input[0].call_id", "no_tool_call_found")
	r.said(t, `"previous_response_id":"`+id+`","input":[{"type":"function_call_output","call_id":"call_1","output":"sunny"}]`, "Sun.")
	own = r.events(t, conversationOf(got))
	if answer := string(own[3].Fields["content"]); !strings.Contains(answer, `"name":"weather","response":{"result":"sunny"}`) {
		t.Errorf("the agent gets %s", answer)
	}
	if offer := (run.Request{Events: own[:4], RunID: own[3].InvocationID}).FrontEnd(); offer.Instructions != "" || len(offer.Tools) != 0 {
		t.Errorf("the next run is offered %+v", offer)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	type refusal struct {
		status      int
		param, code any
	}
	for members, want := range map[string]refusal{
		`"model":"nobody","input":"x"`:                                                                {404, "model", "model_not_found"},
		`"input":"x"`:                                                                                 {400, "model", nil},
		`"model":"helper"`:                                                                            {400, "input", nil},
		`"model":"helper","input":[]`:                                                                 {400, "input", nil},
		`"model":"helper","input":"x","store":false`:                                                  {400, "store", "unsupported_parameter"},
		`"model":"helper","input":"x","nonsense":1`:                                                   {400, "nonsense", "unknown_parameter"},
		`"model":"helper","input":"x","tools":[{"type":"web_search"}]`:                                {400, "tools[0].type", "unsupported_parameter"},
		`"model":"helper","input":"x","temperature":3`:                                                {400, "temperature", nil},
		`"model":"helper","input":"x","conversation":"none"`:                                          {404, "conversation", nil},
		`"model":"helper","input":"x","previous_response_id":"resp_x"`:                                {400, "previous_response_id", "previous_response_not_found"},
		`"model":"helper","input":"x","previous_response_id":"a","conversation":"b"`:                  {400, "previous_response_id", nil},
		`"model":"helper","input":[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]`: {400, "input[0].content[0].file_id", nil},
		`"model":"helper","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,%"}]}]`: {400, "input[0].content[0].image_url", nil},
		`"model":"helper","input":[{"role":"user","content":[{"type":"input_image","image_url":"no address"}]}]`:              {400, "input[0].content[0].image_url", nil},
		`"model":"helper","input":[{"role":"user","content":[{"type":"input_file","file_data":"%%"}]}]`:                       {400, "input[0].content[0].file_data", nil},
		`"model":"helper","input":"x","text":{"format":{"type":"json_schema","name":"n"}}`:                                    {400, "text.format.schema", nil},
		`"model":"helper","input":"x","text":{"format":{"type":"json_schema","schema":{}}}`:                                   {400, "text.format.name", nil},
		`"model":"helper","input":[{"type":"item_reference","id":"x"}]`:                                                       {400, "input[0].type", nil},
		`"model":"helper","input":[{"role":"assistant","content":"x"}]`:                                                       {400, "input", nil},
		`"model":"team/writer","input":"x","tools":[{"type":"function","name":"f"}]`:                                          {400, "tools", "unsupported_parameter"},
		`"model":"team/writer","input":"x","instructions":"y"`:                                                                {400, "instructions", "unsupported_parameter"},
		`"model":"team/writer","input":[{"role":"system","content":"y"},{"role":"user","content":"x"}]`:                       {400, "input[0]", "unsupported_parameter"},
		`"model":"team/writer","input":"x","text":{"format":{"type":"json_object"}}`:                                          {400, "text.format", "unsupported_parameter"},
		`"model":"team/writer","input":"x","tool_choice":"required"`:                                                          {400, "tool_choice", "unsupported_parameter"},
		`"model":"helper","input":"x","rethread":{"on_divergence":"no"}`:                                                      {400, "rethread.on_divergence", nil},
		`"model":"helper","input":"x","metadata":{"a":1}`:                                                                     {400, "metadata", nil},
		`"model":"helper","input":"x","tool_choice":{"type":"function","name":"none"}`:                                        {400, "tool_choice.name", nil},
		`"model":"helper","input":[{"type":"function_call","call_id":"a","name":"b","arguments":"["}]`:                        {400, "input[0].arguments", nil},
	} {
		s := r.Call(t, "alice", http.MethodPost, "/v1/responses", "{"+members+"}")
		mustRefuse(t, s, want.status, want.param, want.code)
	}
	if len(r.Started) > 0 {
		t.Error("a run began")
	}
	if sessions, err := r.Store.Sessions.List(t.Context(), session.ListQuery{UserID: "alice", Limit: 10}); err != nil || len(sessions.Sessions) > 0 {
		t.Errorf("the refusals left %v, %v", sessions, err)
	}
	mustRefuse(t, r.Call(t, "", http.MethodPost, "/v1/responses", `{}`), 401, nil, nil)
	mustRefuse(t, r.get(t, "nothing"), 404, nil, nil)
	mustRefuse(t, r.Call(t, "alice", http.MethodPost, "/v1/responses", "no JSON"), 400, nil, nil)
	if got := r.begin(t, `"input":"x","temperature":null,"tools":[],"tool_choice":"auto","store":true,"include":["reasoning.encrypted_content"]`); got["status"] != "in_progress" {
		t.Errorf("got %v", got)
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.said(t, `"input":"one"`, "1")
	id, conversation := got["id"].(string), conversationOf(got)
	item := got["output"].([]any)[0].(object)["id"].(string)
	for _, path := range []string{
		"responses/" + id, "responses/" + id + "/input_items", "conversations/" + conversation,
		"conversations/" + conversation + "/items", "conversations/" + conversation + "/items/" + item,
	} {
		mustRefuse(t, r.Call(t, "mallory", http.MethodGet, "/v1/"+path, ""), 404, nil, nil)
	}
	for _, path := range []string{"responses/" + id, "conversations/" + conversation} {
		mustRefuse(t, r.Call(t, "mallory", http.MethodDelete, "/v1/"+path, ""), 404, nil, nil)
	}
	mustRefuse(t, r.Call(t, "mallory", http.MethodPost, "/v1/responses/"+id+"/cancel", ""), 404, nil, nil)
	body := `{"model":"helper","input":"x","previous_response_id":"` + id + `"}`
	mustRefuse(t, r.Call(t, "mallory", http.MethodPost, "/v1/responses", body), 400, "previous_response_id", "previous_response_not_found")
	if got := r.Users(t, conversation); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the conversation has %v", got)
	}
}
