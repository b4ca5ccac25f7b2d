package a2a_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
)

func TestAgent_streams_artifacts_and_messages(t *testing.T) {
	for name, c := range map[string]struct {
		results []string
		want    string // contents of the events
		deltas  string // text of all deltas
	}{
		"chunks of an artifact": {
			[]string{task("TASK_STATE_SUBMITTED"), chunk("a", `{"text":"It "}`, false), chunk("a", `{"text":"comes."}`, true), status("TASK_STATE_COMPLETED", "", "")},
			`[{"text":"It comes."}]`, "It comes.",
		},
		"an artifact that is repeated as a whole": {
			[]string{task("TASK_STATE_SUBMITTED"), chunk("a", `{"text":"It "}`, false), chunk("a", `{"text":"It comes."}`, false), task("TASK_STATE_COMPLETED", `"artifacts":[{"artifactId":"a","parts":[{"text":"It comes."}]}]`)},
			`[{"text":"It comes."}]`, "It comes.",
		},
		"an artifact that is replaced": {
			[]string{chunk("a", `{"text":"It "}`, false), chunk("a", `{"text":"No."}`, false), chunk("a", `{"text":" Yes."}`, true), status("TASK_STATE_COMPLETED", "", "")},
			`[{"text":"No. Yes."}]`, "It ",
		},
		"two artifacts in turn": {
			[]string{
				chunk("a", `{"text":"A1"}`, false), chunk("b", `{"text":"B1"}`, false), chunk("a", `{"text":"A2"}`, true), chunk("b", `{"text":"B1B2"}`, false),
				chunk("a", `{"text":"A1A2"}`, false), status("TASK_STATE_COMPLETED", "", ""),
			},
			"[{\"text\":\"A1\"}]\n[{\"text\":\"B1\"}]\n[{\"text\":\"A2\"}]\n[{\"text\":\"B2\"}]", "A1B1A2B2",
		},
		"messages of the status": {
			[]string{status("TASK_STATE_WORKING", "m1", `{"text":"Hm.","metadata":{"adk_thought":true}}`), status("TASK_STATE_WORKING", "m1", `{"text":"Hm.","metadata":{"adk_thought":true}}`), status("TASK_STATE_COMPLETED", "m2", `{"text":"Yes."}`)},
			"[{\"text\":\"Hm.\",\"thought\":true}]\n[{\"text\":\"Yes.\"}]", "Hm.Yes.",
		},
		"a message instead of a task": {
			[]string{`{"message":{"messageId":"m","role":"ROLE_AGENT","contextId":"c1","parts":[{"text":"Only this."}]}}`},
			`[{"text":"Only this."}]`, "Only this.",
		},
		"a task without output": {
			[]string{task("TASK_STATE_COMPLETED")}, `[]`, "",
		},
		"files and data": {
			[]string{chunk("a", `{"raw":"AQI=","mediaType":"image/png","filename":"a.png"},{"url":"https://x.example/b","mediaType":"text/plain"},{"data":{"n":9007199254740993}},{"text":"!","metadata":{"k":1}}`, false), status("TASK_STATE_COMPLETED", "", "")},
			`[{"inline_data":{"data":"AQI=","display_name":"a.png","mime_type":"image/png"}},{"file_data":{"file_uri":"https://x.example/b","mime_type":"text/plain"}},{"data":{"n":9007199254740993},"text":"{\"n\":9007199254740993}"},{"part_metadata":{"k":1},"text":"!"}]`,
			"!",
		},
		"a call and its result": {
			[]string{
				chunk("a", `{"data":{"id":"f1","name":"find","args":{"id":9007199254740993}},"metadata":{"adk_type":"function_call"}}`, false),
				chunk("b", `{"data":{"id":"f1","name":"find","response":{"found":true}},"metadata":{"kagent_type":"function_response"}}`, false),
				status("TASK_STATE_COMPLETED", "", ""),
			},
			"[{\"function_call\":{\"id\":\"f1\",\"name\":\"find\",\"args\":{\"id\":9007199254740993}}}]\n[{\"function_response\":{\"id\":\"f1\",\"name\":\"find\",\"response\":{\"found\":true}}}]", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := agenttest.MustRecord(t, newA2AFake(t, currentCard).on("SendStreamingMessage", results(c.results...)).agent(), agenttest.Ask(t, "hi"))
			if diff := cmp.Diff(c.want, r.Contents()); diff != "" {
				t.Errorf("contents (-want +got):\n%s", diff)
			}
			var deltas strings.Builder
			for _, line := range r.Log {
				var d struct{ Text string }
				if raw, ok := strings.CutPrefix(line, "delta "); ok && json.Unmarshal([]byte(raw), &d) == nil {
					deltas.WriteString(d.Text)
				}
			}
			if deltas.String() != c.deltas {
				t.Errorf("deltas %q, want %q", &deltas, c.deltas)
			}
		})
	}
}

func TestAgent_sends_the_input(t *testing.T) {
	req := agenttest.Ask(t)
	req.Events = append(req.Events, agenttest.Event(t, `{"invocation_id":"run-1","author":"user","content":{"role":"user","parts":[`+
		`{"text":"look","part_metadata":{"k":"v"}},{"inline_data":{"mime_type":"image/png","display_name":"a.png","data":"-_8="}},`+
		`{"file_data":{"mime_type":"text/plain","file_uri":"https://x.example/a"}},{"text":"{}","data":{"n":9007199254740993}},`+
		`{"function_response":{"id":"f1","name":"find","response":{"ok":true}}}]}}`))
	for name, c := range map[string]struct {
		card, method, role, parts, version string
		answer                             string
	}{
		"1.0": {
			currentCard, "SendStreamingMessage", "ROLE_USER",
			`[{"metadata":{"k":"v"},"text":"look"},{"filename":"a.png","mediaType":"image/png","raw":"+/8="},{"mediaType":"text/plain","url":"https://x.example/a"},` +
				`{"data":{"n":9007199254740993}},{"data":{"id":"f1","name":"find","response":{"ok":true}},"metadata":{"adk_type":"function_response","kagent_type":"function_response"}}]`,
			"1.0", task("TASK_STATE_COMPLETED"),
		},
		"0.3": {
			oldCard, "message/stream", "user",
			`[{"kind":"text","metadata":{"k":"v"},"text":"look"},{"file":{"bytes":"+/8=","mimeType":"image/png","name":"a.png"},"kind":"file"},` +
				`{"file":{"mimeType":"text/plain","uri":"https://x.example/a"},"kind":"file"},{"data":{"n":9007199254740993},"kind":"data"},` +
				`{"data":{"id":"f1","name":"find","response":{"ok":true}},"kind":"data","metadata":{"adk_type":"function_response","kagent_type":"function_response"}}]`,
			"0.3", `{"kind":"task","id":"t1","contextId":"c1","status":{"state":"completed"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newA2AFake(t, c.card).on(c.method, results(c.answer)).on(c.method, results(c.answer))
			agenttest.MustRecord(t, f.agent(), req)
			m := f.message()
			want := json.RawMessage(c.parts)
			var parts any
			if err := json.Unmarshal(want, &parts); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parts, m["parts"]); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if m["role"] != c.role || f.asked[0].Header.Get("A2A-Version") != c.version || m["contextId"] != nil || m["taskId"] != nil {
				t.Errorf("message %v", m)
			}
			id := m["messageId"]
			agenttest.MustRecord(t, f.agent(), req)
			if again := f.message()["messageId"]; again != id || id == "" {
				t.Errorf("message ids %v and %v of one run", id, again)
			}
		})
	}
}

func TestAgent_reads_the_older_version(t *testing.T) {
	f := newA2AFake(t, oldCard).on("message/stream", results(
		`{"kind":"task","id":"t1","contextId":"c1","status":{"state":"submitted"}}`,
		`{"kind":"status-update",`+ofTask+`,"final":false,"status":{"state":"working"}}`,
		`{"kind":"artifact-update",`+ofTask+`,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"Hi"},{"kind":"file","file":{"bytes":"AQI=","mimeType":"image/png","name":"a.png"}},{"kind":"file","file":{"uri":"https://x.example/b"}},{"kind":"data","data":{"n":1}}]}}`,
		`{"kind":"status-update",`+ofTask+`,"final":true,"status":{"state":"input-required","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"And?"}]}}}`,
	))
	r := agenttest.MustRecord(t, f.agent(), agenttest.Ask(t, "hi"))
	want := `[{"text":"Hi"},{"inline_data":{"data":"AQI=","display_name":"a.png","mime_type":"image/png"}},{"file_data":{"file_uri":"https://x.example/b"}},{"data":{"n":1},"text":"{\"n\":1}"}]` + "\n" + `[{"text":"And?"}]`
	if diff := cmp.Diff(want, r.Contents()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whenever a task is asked for, a message of its progress comes before the artifacts.
func TestAgent_orders_progress_before_artifacts(t *testing.T) {
	const (
		message  = `{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"I look it up."}]}`
		artifact = `"artifacts":[{"artifactId":"a","parts":[{"text":"20 degrees."}]}]`
		working  = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING","message":` + message + `}`
		over     = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"history":[` + message + `],` + artifact + `}`
	)
	for name, seen := range map[string]string{"at work": working + "," + artifact + "}", "before its artifact": working + "}"} {
		t.Run(name, func(t *testing.T) {
			f := newA2AFake(t, pollingCard).
				on("SendMessage", result(`{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_SUBMITTED"}}}`)).
				on("GetTask", result(seen)).
				on("GetTask", result(over))
			r := agenttest.MustRecord(t, f.agent(), agenttest.Ask(t, "weather"))
			if want := `[{"text":"I look it up."}]` + "\n" + `[{"text":"20 degrees."}]`; r.Contents() != want {
				t.Errorf("%s, want %s", r.Contents(), want)
			}
		})
	}
}

func TestAgent_polls_an_agent_that_does_not_stream(t *testing.T) {
	f := newA2AFake(t, pollingCard).
		on("SendMessage", result(task("TASK_STATE_WORKING"))).
		on("GetTask", result(`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":[{"text":"It "}]}]}`)).
		on("GetTask", result(`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"It comes."}]}]}`))
	r := agenttest.MustRecord(t, f.agent(), agenttest.Ask(t, "hi"))
	if r.Contents() != `[{"text":"It comes."}]` || f.methods() != "SendMessage GetTask GetTask" {
		t.Errorf("%s after %s", r.Contents(), f.methods())
	}
}

func TestAgent_resumes_a_dropped_stream(t *testing.T) {
	const whole = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"It comes."}]}]}`
	for name, c := range map[string]struct {
		prepare func(f *a2aFake)
		methods string
	}{
		"by subscribing": {func(f *a2aFake) {
			f.on("SubscribeToTask", results(task("TASK_STATE_WORKING", `"artifacts":[{"artifactId":"a","parts":[{"text":"It "}]}]`), chunk("a", `{"text":"comes."}`, true), status("TASK_STATE_COMPLETED", "", "")))
		}, "SendStreamingMessage SubscribeToTask"},
		"by asking, if it is over": {func(f *a2aFake) {
			f.on("SubscribeToTask", rpcFailure(-32004, "the task is over")).on("GetTask", result(whole))
		}, "SendStreamingMessage SubscribeToTask GetTask"},
		"by asking, if every stream drops": {func(f *a2aFake) {
			for range 3 {
				f.on("SubscribeToTask", dropped(task("TASK_STATE_WORKING")))
			}
			f.on("GetTask", result(whole))
		}, "SendStreamingMessage SubscribeToTask SubscribeToTask SubscribeToTask GetTask"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newA2AFake(t, currentCard).on("SendStreamingMessage", dropped(task("TASK_STATE_WORKING"), chunk("a", `{"text":"It "}`, false)))
			c.prepare(f)
			r := agenttest.MustRecord(t, f.agent(), agenttest.Ask(t, "hi"))
			if r.Contents() != `[{"text":"It comes."}]` || f.methods() != c.methods {
				t.Errorf("%s after %s", r.Contents(), f.methods())
			}
		})
	}
}
