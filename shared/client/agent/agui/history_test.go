package agui_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// askedOfAGUI is the request that an agent gets.
func askedOfAGUI(t *testing.T, f agentconfig.Frontend, req run.Request) map[string]any {
	t.Helper()
	var got map[string]any
	agenttest.MustRecord(t, newAGUI(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		agenttest.Streams(aguiStream(runFinished))(rw, r)
	}), f), req)
	return got
}

// withEvents returns a request whose history is these events, with ids by position.
func withEvents(t *testing.T, events ...string) run.Request {
	t.Helper()
	req := agenttest.Ask(t)
	for i, raw := range events {
		e := agenttest.Event(t, raw)
		if e.ID == "" {
			e.ID = fmt.Sprintf("e%d", i+1)
		}
		req.Events = append(req.Events, e)
	}
	return req
}

func mustJSON(t *testing.T, raw string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestRequest(t *testing.T) {
	req := withEvents(t, agenttest.Said("user", "user", `{"text":"hi"}`))
	req.Epoch, req.Truncated = 3, true
	req.State = session.Values{"a": json.RawMessage("9007199254740993"), "user:b": json.RawMessage(`"x"`)}
	got := askedOfAGUI(t, agentconfig.Frontend{
		Tools:          []agentconfig.FrontendTool{{Name: "pick", Raw: json.RawMessage(`{"name":"pick","description":"d","parameters":{"type":"object"}}`)}},
		ForwardedProps: map[string]json.RawMessage{"mode": json.RawMessage(`"fast"`)},
	}, req)
	thread := got["threadId"]
	delete(got, "threadId")
	want := mustJSON(t, `{
		"runId":"run-1","protocolVersion":"1.0","state":{"a":9007199254740993,"user:b":"x"},
		"messages":[{"id":"e1","role":"user","content":"hi"}],
		"tools":[{"name":"pick","description":"d","parameters":{"type":"object"}}],
		"context":[{"description":"About the messages","value":"The beginning of this conversation is left out."}],
		"forwardedProps":{"mode":"fast","rethread":{"session_id":"s","user_id":"alice","app_name":"app","agent":"helper"}}}`)
	if diff := cmp.Diff(want, any(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	t.Run("the thread is the same for each run of a branch, and another for any other", func(t *testing.T) {
		if again := askedOfAGUI(t, agentconfig.Frontend{}, req)["threadId"]; again != thread {
			t.Errorf("%v and %v", thread, again)
		}
		seen := map[any]bool{thread: true}
		for _, change := range []func(*run.Request){
			func(r *run.Request) { r.Epoch++ }, func(r *run.Request) { r.LogID = "again" }, func(r *run.Request) { r.SessionID += "3" },
			func(r *run.Request) { r.UserID = "bob" }, func(r *run.Request) { r.SessionID, r.Epoch = "s3", 0 },
			func(r *run.Request) { r.UserID, r.SessionID = "alice\"", "\"s" },
		} {
			other := req
			change(&other)
			if id := askedOfAGUI(t, agentconfig.Frontend{}, other)["threadId"]; seen[id] {
				t.Errorf("%s of %s, epoch %d: %v once more", other.SessionID, other.UserID, other.Epoch, id)
			} else {
				seen[id] = true
			}
		}
	})
	t.Run("what the front end of the input offers", func(t *testing.T) {
		got := askedOfAGUI(t, agentconfig.Frontend{
			Tools:          []agentconfig.FrontendTool{{Name: "own", Raw: json.RawMessage(`{"name":"own"}`)}},
			ForwardedProps: map[string]json.RawMessage{"mode": json.RawMessage(`"fast"`)},
		}, withEvents(t, agenttest.OfFrontEnd))
		for name, want := range map[string]string{
			"tools":          `[{"name":"own"},{"name":"pick","description":"d"}]`,
			"context":        `[{"description":"page","value":"home"}]`,
			"forwardedProps": `{"mode":"fast","theme":"dark","rethread":{"session_id":"s","user_id":"alice","app_name":"app","agent":"helper"}}`,
		} {
			if diff := cmp.Diff(mustJSON(t, want), got[name]); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", name, diff)
			}
		}
	})
	t.Run("without anything", func(t *testing.T) {
		got := askedOfAGUI(t, agentconfig.Frontend{}, run.Request{RunID: "run-1"})
		for _, name := range []string{"messages", "tools", "context"} {
			if diff := cmp.Diff([]any{}, got[name]); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if diff := cmp.Diff(map[string]any{}, got["state"]); diff != "" || got["resume"] != nil {
			t.Errorf("state %s, resume %v", diff, got["resume"])
		}
	})
}

// kept is a model's event with a record of the agent called helper.
func keptEvent(parts, record string) string {
	return fmt.Sprintf(`{"invocation_id":"i","author":"helper","content":{"role":"model","parts":[%s]},"ag_ui":{"agent":"helper",%s}}`, parts, record)
}

func resultEvent(parts, record string) string {
	return fmt.Sprintf(`{"invocation_id":"i","author":"helper","content":{"role":"user","parts":[%s]},"ag_ui":{"agent":"helper",%s}}`, parts, record)
}

const (
	callPart       = `{"function_call":{"id":"c1","name":"f","args":{"a":1}}}`
	aguiSentCall   = `{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}`
	aguiUnanswered = `{"id":"c1:unanswered","role":"tool","toolCallId":"c1","content":"{\"error\":\"the call got no response\"}","error":"the call got no response"}`
	aguiResponse   = `{"function_response":{"id":"c1","name":"f","response":{"r":2}}}`
)

func TestHistory(t *testing.T) {
	user := agenttest.Said("user", "user", `{"text":"x"}`)
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"roles, without others' thinking": {
			[]string{agenttest.Said("user", "user", `{"text":"a"},{"text":"b"}`), agenttest.Said("x", "model", `{"thought":true,"text":"hm"},{"text":"c"},{"text":"d"}`), agenttest.Said("x", "model", `{"text":""}`), `{"invocation_id":"i","author":"x","actions":{"state_delta":{"a":1}}}`},
			`{"id":"e1","role":"user","content":"a\nb"},{"id":"e2","role":"assistant","content":"c\nd"}`,
		},
		"the agent's own messages, with their ids and encrypted values": {
			[]string{
				keptEvent(`{"thought":true,"text":"hm"},{"thought":true,"text":""},{"text":"a"},`+callPart, `"messages":["r1","r2","m1","m1"],"encrypted_values":{"r1":"x","c1":"y"}`),
				resultEvent(aguiResponse, `"messages":["t1"],"encrypted_values":{"m1":"z","t1":"w"}`),
			},
			`{"id":"r1","role":"reasoning","content":"hm","encryptedValue":"x"},{"id":"r2","role":"reasoning","content":""},` +
				`{"id":"m1","role":"assistant","content":"a","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"},"encryptedValue":"y"}],"encryptedValue":"z"},` +
				`{"id":"t1","role":"tool","toolCallId":"c1","content":"{\"r\":2}","encryptedValue":"w"}`,
		},
		"messages that share an item": {
			[]string{keptEvent(`{"text":"a"},{"text":"b"}`, `"messages":["m1","m2"]`)},
			`{"id":"m1","role":"assistant","content":"a"},{"id":"m2","role":"assistant","content":"b"}`,
		},
		"a record of another agent": {
			[]string{`{"invocation_id":"i","author":"x","content":{"role":"model","parts":[{"thought":true,"text":"hm"},{"text":"a"}]},"ag_ui":{"agent":"other","messages":["r1","m1"]}}`},
			`{"id":"e1","role":"assistant","content":"a"}`,
		},
		"results that are text, a list and files": {
			[]string{
				keptEvent(callPart+`,{"function_call":{"id":"c2","name":"g"}}`, `"messages":["m1","m1"]`),
				resultEvent(`{"function_response":{"id":"c1","name":"f","response":{"result":"fine"}}},{"inline_data":{"mime_type":"audio/mp3","display_name":"a.mp3","data":"a-_="}},{"file_data":{"mime_type":"video/mp4","file_uri":"https://x/y"}}`, `"messages":["t1"],"plain":true`),
				resultEvent(`{"function_response":{"id":"c2","name":"g","response":{"result":[1]}}}`, `"messages":["t2"],"plain":true`),
			},
			`{"id":"m1","role":"assistant","toolCalls":[` + aguiSentCall + `,{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},` +
				`{"id":"t1","role":"tool","toolCallId":"c1","content":[{"type":"text","text":"fine"},{"type":"audio","source":{"type":"data","value":"a+/=","mimeType":"audio/mp3"},"metadata":{"filename":"a.mp3"}},{"type":"video","source":{"type":"url","value":"https://x/y","mimeType":"video/mp4"}}]},` +
				`{"id":"t2","role":"tool","toolCallId":"c2","content":"[1]"}`,
		},
		"the user's answer to a call, with more": {
			[]string{agenttest.Said("x", "model", callPart), agenttest.Said("user", "user", aguiResponse+`,{"text":"and"}`)},
			`{"id":"e1","role":"assistant","toolCalls":[` + aguiSentCall + `]},{"id":"e2:0","role":"tool","toolCallId":"c1","content":"{\"r\":2}"},{"id":"e2","role":"user","content":"and"}`,
		},
		"calls without ids, by name":    {[]string{agenttest.Said("x", "model", `{"function_call":{"name":"f"}}`), agenttest.Said("user", "user", `{"function_response":{"name":"f"}}`)}, `{"id":"e1","role":"assistant","toolCalls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"id":"e2:0","role":"tool","toolCallId":"call_1","content":"{}"}`},
		"a call without a response":     {[]string{agenttest.Said("x", "model", callPart), user}, `{"id":"e1","role":"assistant","toolCalls":[` + aguiSentCall + `]},` + aguiUnanswered + `,{"id":"e2","role":"user","content":"x"}`},
		"a call at the end":             {[]string{agenttest.Said("x", "model", callPart)}, `{"id":"e1","role":"assistant","toolCalls":[` + aguiSentCall + `]},` + aguiUnanswered},
		"a response without a call":     {[]string{agenttest.Said("user", "user", aguiResponse)}, `{"id":"e1","role":"user","content":"[response of f: {\"r\":2}]"}`},
		"a user's files":                {[]string{agenttest.Said("user", "user", `{"text":"see"},{"inline_data":{"mime_type":"image/png","data":"a-_="}},{"file_data":{"mime_type":"application/pdf","file_uri":"https://x/y"}}`)}, `{"id":"e1","role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"data","value":"a+/=","mimeType":"image/png"}},{"type":"document","source":{"type":"url","value":"https://x/y","mimeType":"application/pdf"}}]}`},
		"what AG-UI has no message for": {[]string{agenttest.Said("user", "user", `{"executable_code":{"code":"1+1"}}`), agenttest.Said("x", "model", `{"inline_data":{"mime_type":"image/png","data":"eA=="}}`)}, `{"id":"e1","role":"user","content":"{\"executable_code\":{\"code\":\"1+1\"}}"},{"id":"e2","role":"assistant","content":"[attached: image/png]"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := askedOfAGUI(t, agentconfig.Frontend{}, withEvents(t, c.events...))
			if diff := cmp.Diff(mustJSON(t, "["+c.want+"]"), got["messages"]); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if got["resume"] != nil {
				t.Errorf("resume %v", got["resume"])
			}
		})
	}
}

// What earlier workers of the run have said comes after its input. A call that they did
// not see answered is answered as such, and an answer is continued.
func TestContinues(t *testing.T) {
	const asked = `{"id":"e1","role":"user","content":"x"}`
	context := func(note string) string { return `[{"description":"About the messages","value":"` + note + `"}]` }
	const (
		kept    = "Your answer to the last message was interrupted. The end of this conversation is what was kept of it: continue from there without repeating it."
		nothing = "An earlier attempt to answer the last message was interrupted before anything of it was kept."
		unknown = "the call was interrupted: it may or may not have been carried out, and its result is unknown"
	)
	for name, c := range map[string]struct{ said, messages, context string }{
		"nothing": {"", asked, context(nothing)},
		"a text":  {keptEvent(`{"text":"a"}`, `"messages":["m1"]`), asked + `,{"id":"m1","role":"assistant","content":"a"},{"id":"run-1:continuation:1","role":"user","content":"` + kept + `"}`, context(kept)},
		"a call": {
			keptEvent(`{"text":"a"},`+callPart, `"messages":["m1","m1"]`),
			asked + `,{"id":"m1","role":"assistant","content":"a","toolCalls":[` + aguiSentCall + `]},` +
				`{"id":"c1:unanswered","role":"tool","toolCallId":"c1","content":"{\"error\":\"` + unknown + `\"}","error":"` + unknown + `"}`,
			context(kept),
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := withEvents(t, agenttest.Said("user", "user", `{"text":"x"}`))
			req.Continuation = 1
			if c.said != "" {
				req.Said = []session.Event{agenttest.Event(t, c.said)}
			}
			got := askedOfAGUI(t, agentconfig.Frontend{}, req)
			if diff := cmp.Diff(mustJSON(t, "["+c.messages+"]"), got["messages"]); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(mustJSON(t, c.context), got["context"]); diff != "" {
				t.Errorf("context (-want +got):\n%s", diff)
			}
		})
	}
}

// A run whose worker was lost after it had asked the user is not continued: the user's
// answer is the input of the next run.
func TestDoesNotAskAgain(t *testing.T) {
	req := withEvents(t, agenttest.Said("user", "user", `{"text":"x"}`))
	req.Continuation = 1
	req.Said = []session.Event{agenttest.Event(t, `{"invocation_id":"run-1","author":"helper","long_running_tool_ids":["c1"],"content":{"role":"model","parts":[`+callPart+`]}}`)}
	a := newAGUI(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the agent was called") }), agentconfig.Frontend{})
	if r := agenttest.MustRecord(t, a, req); len(r.Log) > 0 {
		t.Errorf("got %q", r.Log)
	}
}

func TestQuestions(t *testing.T) {
	ask := keptEvent(`{"function_call":{"id":"i1","name":"ag_ui_interrupt","args":{"reason":"r"}}},{"function_call":{"id":"i2","name":"ag_ui_interrupt","args":{}}}`, `"thread":"`+theThread+`","interrupts":["i1","i2"]`)
	question := func(schema string) string {
		return keptEvent(`{"function_call":{"id":"i1","name":"ag_ui_interrupt","args":{"responseSchema":`+schema+`}}}`, `"thread":"`+theThread+`","interrupts":["i1"]`)
	}
	elsewhere := func(args string) string {
		return keptEvent(`{"function_call":{"id":"i1","name":"ag_ui_interrupt","args":`+args+`}}`, `"thread":"other","interrupts":["i1"]`)
	}
	plain, formal := question(`{"type":"string"}`), question(`{"type":"object"}`)
	call := keptEvent(callPart, `"messages":["m1"]`)
	text := agenttest.Said("user", "user", `{"text":"x"}`)
	answer := func(id, response string) string {
		return agenttest.Said("user", "user", fmt.Sprintf(`{"function_response":{"id":%q,"name":"ag_ui_interrupt","response":%s}}`, id, response))
	}
	const (
		sent  = `{"id":"m1","role":"assistant","toolCalls":[` + aguiSentCall + `]}`
		asked = `{"id":"e3","role":"user","content":"x"}`
	)
	for name, c := range map[string]struct {
		events           []string
		resume, messages string
	}{
		"answers":                            {[]string{call, ask, answer("i1", `{"approved":true}`), answer("i2", `{"result":5}`)}, `[{"interruptId":"i1","status":"resolved","payload":{"approved":true}},{"interruptId":"i2","status":"resolved","payload":5}]`, sent},
		"one answer, the last":               {[]string{call, ask, answer("i1", `{"a":1}`), answer("i1", `{"b":1}`)}, `[{"interruptId":"i1","status":"resolved","payload":{"b":1}},{"interruptId":"i2","status":"cancelled"}]`, sent},
		"no answer, but a text":              {[]string{call, ask, text}, `[{"interruptId":"i1","status":"cancelled"},{"interruptId":"i2","status":"cancelled"}]`, sent + `,` + asked},
		"a text that another agent answered": {[]string{call, plain, text, agenttest.Said("x", "model", `{"text":"y"}`), text}, `null`, sent + `,` + aguiUnanswered + `,` + asked + `,{"id":"e4","role":"assistant","content":"y"},{"id":"e5","role":"user","content":"x"}`},
		"a text that the agent answered before another one spoke": {[]string{plain, text, keptEvent(`{"text":"y"}`, `"messages":["m2"]`), agenttest.Said("x", "model", `{"text":"z"}`)}, `null`, `{"id":"m2","role":"assistant","content":"y"},{"id":"e4","role":"assistant","content":"z"}`},
		"a text that the agent answered":                          {[]string{plain, text, keptEvent(`{"text":"y"}`, `"messages":["m2"]`), text}, `null`, `{"id":"m2","role":"assistant","content":"y"},{"id":"e4","role":"user","content":"x"}`},
		"a text as the answer":                                    {[]string{plain, agenttest.Said("user", "user", `{"text":"x"},{"file_data":{"mime_type":"image/png","file_uri":"https://x/y"}}`)}, `[{"interruptId":"i1","status":"resolved","payload":"x"}]`, `{"id":"e2","role":"user","content":[{"type":"image","source":{"type":"url","value":"https://x/y","mimeType":"image/png"}}]}`},
		"an answer before a text":                                 {[]string{plain, answer("i1", `{"a":1}`), text}, `[{"interruptId":"i1","status":"resolved","payload":{"a":1}}]`, asked},
		"a second text":                                           {[]string{plain, text, text}, `[{"interruptId":"i1","status":"resolved","payload":"x"}]`, asked},
		"a text where the schema has another":                     {[]string{call, formal, text}, `[{"interruptId":"i1","status":"cancelled"}]`, sent + `,` + asked},
		"a question in another thread": {
			[]string{elsewhere(`{"message":"Sure?"}`), answer("i1", `{"a":1}`)},
			`null`,
			`{"id":"e1","role":"assistant","toolCalls":[{"id":"i1","type":"function","function":{"name":"ag_ui_interrupt","arguments":"{\"message\":\"Sure?\"}"}}]},{"id":"e2:0","role":"tool","toolCallId":"i1","content":"{\"a\":1}"}`,
		},
		"a question in another thread about a call": {[]string{call, elsewhere(`{"toolCallId":"c1"}`), answer("i1", `{"a":1}`)}, `[{"interruptId":"i1","status":"resolved","payload":{"a":1}}]`, sent},
		"the agent has gone on since":               {[]string{call, ask, answer("i1", `{}`), resultEvent(aguiResponse, `"messages":["t1"]`), text}, `null`, sent + `,{"id":"t1","role":"tool","toolCallId":"c1","content":"{\"r\":2}"},{"id":"e5","role":"user","content":"x"}`},
		"another agent has gone on":                 {[]string{ask, agenttest.Said("x", "model", `{"text":"y"}`), text}, `null`, `{"id":"e2","role":"assistant","content":"y"},` + asked},
		"a question of another agent's":             {[]string{agenttest.Said("x", "model", `{"function_call":{"id":"c1","name":"f","args":{"a":1}}}`), text}, `null`, `{"id":"e1","role":"assistant","toolCalls":[` + aguiSentCall + `]},` + aguiUnanswered + `,{"id":"e2","role":"user","content":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := askedOfAGUI(t, agentconfig.Frontend{}, withEvents(t, c.events...))
			if diff := cmp.Diff(mustJSON(t, c.resume), got["resume"]); diff != "" {
				t.Errorf("resume (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(mustJSON(t, "["+c.messages+"]"), got["messages"]); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// The agent's messages go back as they came.
func TestMessagesGoBack(t *testing.T) {
	sent := aguiStream(
		`REASONING_START "messageId":"r1"`, `REASONING_MESSAGE_START "messageId":"r1"`, `REASONING_MESSAGE_CONTENT "messageId":"r1","delta":"hm"`,
		`REASONING_ENCRYPTED_VALUE "subtype":"message","entityId":"r1","encryptedValue":"x"`, `REASONING_MESSAGE_END "messageId":"r1"`,
		textBegins, textSays, textEnds, callBegins, callArgs, callEnds, callResult,
		`TEXT_MESSAGE_CHUNK "messageId":"m2","delta":"b"`, runFinished)
	req := agenttest.Ask(t)
	for i, e := range agenttest.MustRecord(t, newAGUI(t, agenttest.Streams(sent), agentconfig.Frontend{}), agenttest.Ask(t, "hi")).Events {
		e.ID = fmt.Sprintf("e%d", i)
		raw, err := jsonx.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		req.Events = append(req.Events, agenttest.Event(t, string(raw)))
	}
	want := mustJSON(t, `[{"id":"r1","role":"reasoning","content":"hm","encryptedValue":"x"},{"id":"m1","role":"assistant","content":"a","toolCalls":[`+aguiSentCall+`]},`+
		`{"id":"t1","role":"tool","toolCallId":"c1","content":"{\"r\":2}"},{"id":"m2","role":"assistant","content":"b"}]`)
	if diff := cmp.Diff(want, askedOfAGUI(t, agentconfig.Frontend{}, req)["messages"]); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
