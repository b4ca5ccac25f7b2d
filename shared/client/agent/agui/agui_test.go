package agui_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/agui"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

// aguiStream returns a stream of events: a type, and the other members without braces.
func aguiStream(events ...string) string {
	data := make([]string, len(events))
	for i, e := range events {
		kind, members, _ := strings.Cut(e, " ")
		if members != "" {
			members = "," + members
		}
		data[i] = fmt.Sprintf(`{"type":%q%s}`, kind, members)
	}
	return agenttest.Chunks(data...)
}

const (
	runStarted  = `RUN_STARTED "threadId":"t","runId":"run-1","protocolVersion":"1.0"`
	runFinished = `RUN_FINISHED "threadId":"t","runId":"run-1","outcome":{"type":"success"}`
	textBegins  = `TEXT_MESSAGE_START "messageId":"m1","role":"assistant"`
	textSays    = `TEXT_MESSAGE_CONTENT "messageId":"m1","delta":"a"`
	textEnds    = `TEXT_MESSAGE_END "messageId":"m1"`
	callBegins  = `TOOL_CALL_START "toolCallId":"c1","toolCallName":"f","parentMessageId":"m1"`
	callArgs    = `TOOL_CALL_ARGS "toolCallId":"c1","delta":"{\"a\":1}"`
	callEnds    = `TOOL_CALL_END "toolCallId":"c1"`
	callResult  = `TOOL_CALL_RESULT "messageId":"t1","toolCallId":"c1","role":"tool","content":"{\"r\":2}"`
)

// theThread is the thread of the requests of ask.
const theThread = "682cf19e-921c-5df1-9a60-65e94a978d82"

func newAGUI(t *testing.T, h http.Handler, f agentconfig.Frontend) *agui.Agent {
	t.Helper()
	a := agui.New(agentconfig.Endpoint{URL: agenttest.Serve(t, h), Timeouts: agenttest.Patient(), Header: http.Header{"X-Key": {"secret-key"}}}, f)
	t.Cleanup(a.Close)
	return a
}

// event returns the log's line of an event with a record, which has the agent's
// name added.
func event(kind, content, record, rest string) string {
	if record != "" {
		record = "," + record
	}
	line := `{"id":"","invocation_id":"run-1","author":"helper","ag_ui":{"agent":"helper"` + record + `}`
	if content != "" {
		line += `,"content":` + content
	}
	return kind + " " + line + rest + "}"
}

// fromModel returns the content of a model.
func fromModel(parts string) string { return `{"role":"model","parts":[` + parts + `]}` }

// members sorts the members of a line of the log.
func members(t *testing.T, line string) string {
	t.Helper()
	kind, raw, _ := strings.Cut(line, " ")
	var e any
	if json.Unmarshal([]byte(raw), &e) != nil {
		return line
	}
	sorted, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return kind + " " + string(sorted)
}

func sorted(t *testing.T, lines []string) []string {
	t.Helper()
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = members(t, line)
	}
	return out
}

func TestAnswers(t *testing.T) {
	const (
		said     = `delta {"part":0,"text":"a"}`
		callPart = `{"function_call":{"id":"c1","name":"f","args":{"a":1}}}`
		openedAt = `delta {"part":%d,"function_call":{"id":"c1","name":"f","args_text":""}}`
		argsAt   = `delta {"part":%d,"function_call":{"args_text":"{\"a\":1}"}}`
		answered = `{"role":"user","parts":[{"function_response":{"id":"c1","name":"f","response":{"r":2}}}]}`
	)
	at := fmt.Sprintf
	for name, c := range map[string]struct {
		sent []string
		want []string
	}{
		"text, with the usage": {
			[]string{runStarted, textBegins, textSays, textSays, textEnds, `RUN_FINISHED "usage":[{"totalTokens":3}]`},
			[]string{agenttest.Begun, said, said, event("completed", fromModel(`{"text":"aa"}`), `"messages":["m1"]`, `,"usage_metadata":[{"totalTokens":3}]`)},
		},
		"chunks": {
			[]string{`TEXT_MESSAGE_CHUNK "messageId":"m1","role":"assistant","delta":"a"`, `TEXT_MESSAGE_CHUNK "delta":"a"`, `TEXT_MESSAGE_CHUNK "messageId":"m2","delta":"a"`, runFinished},
			[]string{
				agenttest.Begun, said, said, event("completed", fromModel(`{"text":"aa"}`), `"messages":["m1"]`, ""),
				agenttest.Begun, said, event("completed", fromModel(`{"text":"a"}`), `"messages":["m2"]`, ""),
			},
		},
		"a call, its result and the answer": {
			[]string{runStarted, textBegins, textSays, textEnds, callBegins, callArgs, callEnds, callResult, `TEXT_MESSAGE_START "messageId":"m2"`, `TEXT_MESSAGE_CONTENT "messageId":"m2","delta":"a"`, runFinished},
			[]string{
				agenttest.Begun, said, at(openedAt, 1), at(argsAt, 1),
				event("completed", fromModel(`{"text":"a"},`+callPart), `"messages":["m1","m1"]`, ""),
				event("event", answered, `"messages":["t1"]`, ""),
				agenttest.Begun, said, event("completed", fromModel(`{"text":"a"}`), `"messages":["m2"]`, ""),
			},
		},
		"calls at the same time, whose results wait": {
			[]string{callBegins, `TOOL_CALL_START "toolCallId":"c2","toolCallName":"g","parentMessageId":"m1"`, callArgs, callEnds, callResult, `TOOL_CALL_END "toolCallId":"c2"`, `TOOL_CALL_RESULT "messageId":"t2","toolCallId":"c2","content":"fine"`, runFinished},
			[]string{
				agenttest.Begun, at(openedAt, 0), `delta {"part":1,"function_call":{"id":"c2","name":"g","args_text":""}}`, at(argsAt, 0),
				event("completed", fromModel(callPart+`,{"function_call":{"id":"c2","name":"g","args":{}}}`), `"messages":["m1","m1"]`, ""),
				event("event", answered, `"messages":["t1"]`, ""),
				event("event", `{"role":"user","parts":[{"function_response":{"id":"c2","name":"g","response":{"result":"fine"}}}]}`, `"messages":["t2"],"plain":true`, ""),
			},
		},
		"chunks of a call, which the user has to answer": {
			[]string{`TOOL_CALL_CHUNK "toolCallId":"c1","toolCallName":"f","delta":""`, `TOOL_CALL_CHUNK "delta":"{\"a\":1}"`, runFinished},
			[]string{agenttest.Begun, at(openedAt, 0), at(argsAt, 0), event("completed", fromModel(callPart), `"messages":[""]`, `,"long_running_tool_ids":["c1"]`)},
		},
		"a call of the front end beside another one": {
			[]string{callBegins, callEnds, `TOOL_CALL_START "toolCallId":"c2","toolCallName":"pick"`, `TOOL_CALL_END "toolCallId":"c2"`, callResult, runFinished},
			[]string{
				agenttest.Begun, at(openedAt, 0), `delta {"part":1,"function_call":{"id":"c2","name":"pick","args_text":""}}`,
				event("completed", fromModel(`{"function_call":{"id":"c1","name":"f","args":{}}},{"function_call":{"id":"c2","name":"pick","args":{}}}`), `"messages":["m1",""]`, `,"long_running_tool_ids":["c2"]`),
				event("event", answered, `"messages":["t1"]`, ""),
			},
		},
		"reasoning, also of which only the encrypted value comes": {
			[]string{
				`REASONING_START "messageId":"r1"`, `REASONING_MESSAGE_START "messageId":"r1","role":"reasoning"`, `REASONING_MESSAGE_CONTENT "messageId":"r1","delta":"hm"`,
				`REASONING_MESSAGE_END "messageId":"r1"`, `REASONING_ENCRYPTED_VALUE "subtype":"message","entityId":"r1","encryptedValue":"x"`, `REASONING_END "messageId":"r1"`,
				`REASONING_START "messageId":"r2"`, `REASONING_ENCRYPTED_VALUE "subtype":"message","entityId":"r2","encryptedValue":"y"`, `REASONING_END "messageId":"r2"`,
				textBegins, textSays, runFinished,
			},
			[]string{
				agenttest.Begun, `delta {"part":0,"thought":true,"text":"hm"}`, `delta {"part":1,"thought":true,"text":""}`, `delta {"part":2,"text":"a"}`,
				event("completed", fromModel(`{"thought":true,"text":"hm"},{"thought":true,"text":""},{"text":"a"}`), `"messages":["r1","r2","m1"],"encrypted_values":{"r1":"x","r2":"y"}`, ""),
			},
		},
		"reasoning after an answer begins an item": {
			[]string{textBegins, textSays, textEnds, `REASONING_MESSAGE_CHUNK "messageId":"r1","delta":"hm"`, `REASONING_MESSAGE_CHUNK "delta":"hm"`, runFinished},
			[]string{
				agenttest.Begun, said, event("completed", fromModel(`{"text":"a"}`), `"messages":["m1"]`, ""),
				agenttest.Begun, `delta {"part":0,"thought":true,"text":"hm"}`, `delta {"part":0,"thought":true,"text":"hm"}`,
				event("completed", fromModel(`{"thought":true,"text":"hmhm"}`), `"messages":["r1"]`, ""),
			},
		},
		"thinking of older versions": {
			[]string{`THINKING_START "title":"t"`, `THINKING_TEXT_MESSAGE_START`, `THINKING_TEXT_MESSAGE_CONTENT "delta":"hm"`, `THINKING_TEXT_MESSAGE_END`, `THINKING_END`, textBegins, textSays, textEnds, runFinished},
			[]string{
				agenttest.Begun, `delta {"part":0,"thought":true,"text":"hm"}`, `delta {"part":1,"text":"a"}`,
				event("completed", fromModel(`{"thought":true,"text":"hm"},{"text":"a"}`), `"messages":["","m1"]`, ""),
			},
		},
		"messages at the same time share an item": {
			[]string{textBegins, textSays, `TEXT_MESSAGE_START "messageId":"m2"`, `TEXT_MESSAGE_CONTENT "messageId":"m2","delta":"b"`, textSays, runFinished},
			[]string{
				agenttest.Begun, said, `delta {"part":1,"text":"b"}`, said,
				event("completed", fromModel(`{"text":"aa"},{"text":"b"}`), `"messages":["m1","m2"]`, ""),
			},
		},
		"a question": {
			[]string{callBegins, callArgs, callEnds, `RUN_FINISHED "outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"tool_call","toolCallId":"c1","message":"Sure?"}]}`},
			[]string{
				agenttest.Begun, at(openedAt, 0), at(argsAt, 0), event("completed", fromModel(callPart), `"messages":["m1"]`, ""),
				event("event", fromModel(`{"function_call":{"id":"i1","name":"ag_ui_interrupt","args":{"reason":"tool_call","toolCallId":"c1","message":"Sure?"}}}`), `"thread":"`+theThread+`","interrupts":["i1"]`, `,"long_running_tool_ids":["i1"]`),
			},
		},
		"events for the user interface": {
			[]string{
				`CUSTOM "name":"n","value":{"a":1}`, `RAW "event":{}`, `STEP_STARTED "stepName":"s"`, `STEP_FINISHED "stepName":"s"`, `SUBAGENT_STARTED "name":"n","subagentRunId":"s"`, `NEW_IN_ANOTHER_VERSION`,
				`ACTIVITY_SNAPSHOT "messageId":"p1","activityType":"PLAN","content":{"steps":[]}`, `ACTIVITY_DELTA "messageId":"p1","activityType":"PLAN","patch":[{"op":"add","path":"/steps/-","value":"s"}]`,
				`ACTIVITY_SNAPSHOT "messageId":"p1","activityType":"PLAN","content":{},"replace":false`, `ACTIVITY_DELTA "messageId":"p2","activityType":"PLAN","patch":[]`,
				textBegins, textSays, `RUN_FINISHED "result":{"n":1}`,
			},
			[]string{
				agenttest.Begun, said,
				event("completed", fromModel(`{"text":"a"}`), `"messages":["m1"],"custom":[{"name":"n","value":{"a":1}}],"activities":[{"message_id":"p1","activity_type":"PLAN","content":{"steps":["s"]}}],"result":{"n":1}`, ""),
			},
		},
		"what comes after the last message": {
			[]string{callBegins, callEnds, callResult, `CUSTOM "name":"n","value":1`, runFinished},
			[]string{
				agenttest.Begun, at(openedAt, 0), event("completed", fromModel(`{"function_call":{"id":"c1","name":"f","args":{}}}`), `"messages":["m1"]`, ""),
				event("event", answered, `"messages":["t1"]`, ""), event("event", "", `"custom":[{"name":"n","value":1}]`, ""),
			},
		},
		"a result with files": {
			[]string{callBegins, callEnds, `TOOL_CALL_RESULT "messageId":"t1","toolCallId":"c1","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"data","value":"eA==","mimeType":"image/png"},"metadata":{"filename":"x.png"}},{"type":"document","source":{"type":"url","value":"https://x/y"}},{"type":"image","source":{"type":"file","value":"file-1"}}]`, runFinished},
			[]string{
				agenttest.Begun, at(openedAt, 0), event("completed", fromModel(`{"function_call":{"id":"c1","name":"f","args":{}}}`), `"messages":["m1"]`, ""),
				event("event", `{"role":"user","parts":[{"function_response":{"id":"c1","name":"f","response":{"result":"x\n[file: file-1]"}}},{"inline_data":{"data":"eA==","display_name":"x.png","mime_type":"image/png"}},{"file_data":{"file_uri":"https://x/y"}}]}`, `"messages":["t1"],"plain":true`, ""),
			},
		},
		"text of other roles is left out": {
			[]string{`TEXT_MESSAGE_START "messageId":"u1","role":"user"`, `TEXT_MESSAGE_CONTENT "messageId":"u1","delta":"b"`, `TEXT_MESSAGE_END "messageId":"u1"`, textBegins, textSays, runFinished},
			[]string{agenttest.Begun, said, event("completed", fromModel(`{"text":"a"}`), `"messages":["m1"]`, "")},
		},
		"nothing to say": {[]string{runStarted, runFinished}, []string{agenttest.Begun, event("completed", fromModel(""), "", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAGUI(t, agenttest.Streams(": hello\n\n"+aguiStream(c.sent...)), agentconfig.Frontend{Tools: []agentconfig.FrontendTool{{Name: "pick", Raw: json.RawMessage(`{}`)}}})
			r := agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
			if diff := cmp.Diff(sorted(t, c.want), sorted(t, r.Log)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A message of the conversation that was not streamed is taken from the snapshot, if
// it comes after what was sent.
func TestSnapshotOfMessages(t *testing.T) {
	const snapshot = `MESSAGES_SNAPSHOT "messages":[{"id":"0","role":"user","content":"hi"},{"id":"m1","role":"assistant","content":"a"},` +
		`{"id":"m2","role":"assistant","content":"b","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},` +
		`{"id":"t1","role":"tool","toolCallId":"c1","content":"{\"r\":2}"},{"id":"m3","role":"assistant","content":"c"},{"id":"r","role":"reasoning","content":"hm"}]`
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"all of it":                         {[]string{snapshot, runFinished}, "abc"},
		"what was not streamed":             {[]string{textBegins, textSays, textEnds, snapshot, runFinished}, "abc"},
		"after a long conversation":         {[]string{`STATE_SNAPSHOT "snapshot":{"messages":["` + strings.Repeat("a", 5*run.MaxItem) + `"]}`, strings.Replace(snapshot, "hi", strings.Repeat("a", 5*run.MaxItem), 1), runFinished}, "abc"},
		"nothing without what was sent":     {[]string{textBegins, textSays, strings.Replace(snapshot, `"id":"0"`, `"id":"x"`, 1), runFinished}, "a"},
		"only the last one, once":           {[]string{`MESSAGES_SNAPSHOT "messages":[]`, snapshot, runFinished}, "abc"},
		"a snapshot that has only what was": {[]string{textBegins, textSays, `MESSAGES_SNAPSHOT "messages":[{"id":"0","role":"user","content":"hi"}]`, runFinished}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			r := agenttest.MustRecord(t, newAGUI(t, agenttest.Streams(aguiStream(c.sent...)), agentconfig.Frontend{}), agenttest.Ask(t, "hi"))
			if got := r.Text(); got != c.want {
				t.Errorf("got %q, want %q: %q", got, c.want, r.Log)
			}
			if calls := strings.Count(strings.Join(r.Log, ""), `"function_response"`); calls != strings.Count(c.want, "b") {
				t.Errorf("%d results: %q", calls, r.Log)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct{ body, code, says string }{
		"no end":                                {aguiStream(runStarted, textBegins, textSays), endpoint.CodeEndedEarly, "ended early"},
		"an error":                              {aguiStream(textBegins, textSays, `RUN_ERROR "code":"odd","message":"boom secret-key"`), "odd", "boom [redacted]"},
		"an error without a code":               {aguiStream(`RUN_ERROR "message":"boom"`), run.CodeAgent, "boom"},
		"an error without a reason":             {aguiStream(`RUN_ERROR`), run.CodeAgent, "without saying why"},
		"a run that the agent cancelled":        {aguiStream(textBegins, textSays, `RUN_FINISHED "outcome":{"type":"cancelled"}`), endpoint.CodeAgentCancelled, "cancelled"},
		"malformed JSON":                        {agenttest.Chunks(`{"type":`), endpoint.CodeProtocol, "an event that is malformed (number 1"},
		"no object":                             {agenttest.Chunks(`[]`), endpoint.CodeProtocol, "must be an object"},
		"no type":                               {agenttest.Chunks(`{}`), endpoint.CodeProtocol, "malformed"},
		"an id of a wrong type":                 {aguiStream(`TEXT_MESSAGE_START "messageId":5`), endpoint.CodeProtocol, "malformed"},
		"a delta of a wrong type":               {aguiStream(textBegins, `TEXT_MESSAGE_CONTENT "messageId":"m1","delta":5`), endpoint.CodeProtocol, "must be a string"},
		"text without a message":                {aguiStream(`TEXT_MESSAGE_CHUNK "delta":"a"`), endpoint.CodeProtocol, "messageId is required"},
		"text of a message not begun":           {aguiStream(textSays), endpoint.CodeProtocol, "has not begun"},
		"reasoning that has not begun":          {aguiStream(`REASONING_MESSAGE_CONTENT "messageId":"r","delta":"a"`), endpoint.CodeProtocol, "has not begun"},
		"a call without an id":                  {aguiStream(`TOOL_CALL_START "toolCallName":"f"`), endpoint.CodeProtocol, "toolCallId is required"},
		"a call without a name":                 {aguiStream(`TOOL_CALL_START "toolCallId":"c"`), endpoint.CodeProtocol, "toolCallName is required"},
		"a call twice":                          {aguiStream(callBegins, callBegins), endpoint.CodeProtocol, "has begun before"},
		"arguments without a call":              {aguiStream(callArgs), endpoint.CodeProtocol, "is not in progress"},
		"an incomplete call":                    {aguiStream(callBegins, `TOOL_CALL_ARGS "toolCallId":"c1","delta":"{"`, runFinished), run.CodeContent, "not whole"},
		"a result without a call":               {aguiStream(`TOOL_CALL_RESULT "content":""`), endpoint.CodeProtocol, "toolCallId is required"},
		"a result of a wrong type":              {aguiStream(callBegins, callEnds, `TOOL_CALL_RESULT "toolCallId":"c1","content":5`), endpoint.CodeProtocol, "string or a list"},
		"a state that is no object":             {aguiStream(`STATE_SNAPSHOT "snapshot":[1]`), endpoint.CodeProtocol, "must be an object"},
		"a delta that is no patch":              {aguiStream(`STATE_DELTA "delta":{"a":1}`), endpoint.CodeProtocol, "must be a JSON Patch"},
		"a patch that does not fit":             {aguiStream(`STATE_DELTA "delta":[{"op":"remove","path":"/a"}]`), endpoint.CodeProtocol, "cannot be changed"},
		"an activity that is no object":         {aguiStream(`ACTIVITY_SNAPSHOT "messageId":"p","activityType":"P","content":"x"`), endpoint.CodeProtocol, "must be an object"},
		"a patch of an activity":                {aguiStream(`ACTIVITY_SNAPSHOT "messageId":"p","activityType":"P","content":{}`, `ACTIVITY_DELTA "messageId":"p","patch":[{"op":"remove","path":"/a"}]`), endpoint.CodeProtocol, "cannot be changed"},
		"an outcome of a wrong type":            {aguiStream(`RUN_FINISHED "outcome":"interrupt"`), endpoint.CodeProtocol, "outcome"},
		"an interrupt without questions":        {aguiStream(`RUN_FINISHED "outcome":{"type":"interrupt"}`), endpoint.CodeProtocol, "needs interrupts"},
		"an interrupt without an id":            {aguiStream(`RUN_FINISHED "outcome":{"type":"interrupt","interrupts":[{"reason":"r"}]}`), endpoint.CodeProtocol, "needs an id"},
		"a snapshot of no messages":             {aguiStream(`MESSAGES_SNAPSHOT "messages":{"a":1}`, runFinished), endpoint.CodeProtocol, "list of messages"},
		"a snapshot that is too large":          {aguiStream(`MESSAGES_SNAPSHOT "messages":["`+strings.Repeat("a", 8*run.MaxItem)+`"]`, runFinished), run.CodeLimit, "event of more than 8388608 bytes"},
		"an event that is too large":            {aguiStream(textBegins, `TEXT_MESSAGE_CONTENT "messageId":"m1","delta":"`+strings.Repeat("a", run.MaxItem+1)+`"`), run.CodeLimit, "bytes"},
		"more custom events than may be":        {aguiStream(`CUSTOM "name":"n","value":"`+strings.Repeat("a", run.MaxItem)+`"`, textBegins, textSays, runFinished), run.CodeLimit, "bytes"},
		"a patch that copies without end":       {aguiStream(`STATE_SNAPSHOT "snapshot":{"a":"`+strings.Repeat("a", run.MaxItem/2)+`"}`, `STATE_DELTA "delta":[{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/a","path":"/c"},{"op":"copy","from":"/a","path":"/d"}]`), endpoint.CodeProtocol, "cannot be changed"},
		"a state that is larger than it may be": {aguiStream(`STATE_SNAPSHOT "snapshot":{"a":"`+strings.Repeat("a", run.MaxItem)+`"}`, textBegins, textSays, runFinished), run.CodeLimit, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agenttest.Record(t, newAGUI(t, agenttest.Streams(c.body), agentconfig.Frontend{}), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, c.says)
		})
	}
	half := strings.Repeat("a", run.MaxItem)
	for name, event := range map[string]func(int) string{
		"custom events without end": func(int) string { return `CUSTOM "name":"n","value":"` + half + `"` },
		"activities without end": func(i int) string {
			return fmt.Sprintf(`ACTIVITY_SNAPSHOT "messageId":"%d","activityType":"a","content":{"a":%q}`, i, half)
		},
		"results that wait": func(i int) string { return fmt.Sprintf(`TOOL_CALL_RESULT "toolCallId":"%d","content":%q`, i, half) },
		"a state that only grows": func(i int) string {
			return fmt.Sprintf(`STATE_DELTA "delta":[{"op":"add","path":"/%d","value":%q}]`, i, half)
		},
		"snapshots do not accumulate": func(i int) string { return fmt.Sprintf(`STATE_SNAPSHOT "snapshot":{"%d":%q}`, i, half[:run.MaxItem/2]) },
	} {
		t.Run(name, func(t *testing.T) {
			events := []string{callBegins}
			for i := range 9 {
				events = append(events, event(i))
			}
			_, err := agenttest.Record(t, newAGUI(t, agenttest.Streams(aguiStream(append(events, runFinished)...)), agentconfig.Frontend{}), agenttest.Ask(t, "hi"))
			if name != "snapshots do not accumulate" {
				agenttest.WantError(t, err, run.CodeLimit, "bytes")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("JSON instead of a stream", func(t *testing.T) {
		_, err := agenttest.Record(t, newAGUI(t, agenttest.Says("application/json", `{}`), agentconfig.Frontend{}), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeProtocol, "instead of a stream")
	})
}
