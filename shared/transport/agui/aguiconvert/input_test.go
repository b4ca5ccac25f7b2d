package aguiconvert_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/agui/aguiconvert"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

func request(t testing.TB, body string) aguiconvert.Input {
	t.Helper()
	in, err := aguiconvert.ParseInput([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func message(id, role string) string {
	return `{"id":"` + id + `","role":"` + role + `","content":"` + id + `"}`
}

func TestPlan_answers(t *testing.T) {
	t.Parallel()
	asked := event("r0", 0, "user", json.RawMessage(`{"role":"user","parts":[{"text":"u0"}]}`))
	asked.Fields["ag_ui_input"] = json.RawMessage(`{"message_id":"u0"}`)
	asks := event("r0", 1, "helper", json.RawMessage(`{"role":"model","parts":[
		{"function_call":{"id":"c1","name":"confirm","args":{}}},
		{"function_call":{"id":"i1","name":"ag_ui_interrupt","args":{"reason":"approval","message":"Sure?"}}}]}`))
	asks.Fields["long_running_tool_ids"] = json.RawMessage(`["c1","i1"]`)
	events := []session.Event{asked, asks}
	for name, c := range map[string]struct{ body, want string }{
		"answers a call of the front end's tool": {
			`"messages":[` + message("u0", "user") + `,{"id":"t","role":"tool","toolCallId":"c1","content":"yes"}]`,
			`{"parts":[{"function_response":{"id":"c1","name":"confirm","response":{"result":"yes"}}}],"role":"user"}`,
		},
		"takes files of older clients": {
			`"messages":[{"id":"u1","role":"user","content":[
				{"type":"binary","mimeType":"image/png","data":"aGk=","filename":"a.png"},{"type":"binary","mimeType":"image/png","url":"https://a.example/b"},
				{"type":"binary","mimeType":"image/png","url":"data:image/png;base64,aGk="},{"type":"binary","mimeType":"image/png","id":"f1"}]}]`,
			`{"parts":[{"inline_data":{"data":"aGk=","display_name":"a.png","mime_type":"image/png"}},` +
				`{"file_data":{"file_uri":"https://a.example/b","mime_type":"image/png"}},` +
				`{"inline_data":{"data":"aGk=","mime_type":"image/png"}},{"text":"[file: image/png f1]"}],"role":"user"}`,
		},
		"keeps a result that is an object": {
			`"messages":[{"id":"t","role":"tool","toolCallId":"c1","content":"{\"ok\":true}"}]`,
			`{"parts":[{"function_response":{"id":"c1","name":"confirm","response":{"ok":true}}}],"role":"user"}`,
		},
		"answers an interrupt": {
			`"messages":[],"resume":[{"interruptId":"c1","status":"cancelled"},{"interruptId":"i1","status":"resolved","payload":"go on"}]`,
			`{"parts":[{"function_response":{"id":"c1","name":"confirm","response":{"status":"cancelled"}}},{"function_response":{"id":"i1","name":"ag_ui_interrupt","response":{"result":"go on"}}}],"role":"user"}`,
		},
		"cancels an interrupt": {
			`"messages":[],"resume":[{"interruptId":"i1","status":"cancelled"},{"interruptId":"c1","status":"resolved"}]`,
			`{"parts":[{"function_response":{"id":"i1","name":"ag_ui_interrupt","response":{"result":null}}},{"function_response":{"id":"c1","name":"confirm","response":{}}}],"role":"user"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := request(t, `{"threadId":"s","runId":"r",`+c.body+`}`).Plan(conversation.History{Events: events}, conversation.Ends{})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Input) != 1 || p.Rewind != "" || string(p.Input[0].Fields["content"]) != c.want {
				t.Errorf("got %v", p)
			}
		})
	}
	end := aguiconvert.Finished(conversation.NewThread(events), "s", "r0", true)
	raw, err := json.Marshal(end)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"outcome":{"interrupts":[` +
		`{"id":"c1","message":"The tool confirm waits for an answer.","reason":"tool_call","toolCallId":"c1"},` +
		`{"id":"i1","message":"Sure?","reason":"approval"}],"type":"interrupt"},"runId":"r0","threadId":"s","type":"RUN_FINISHED"}`
	if string(raw) != want {
		t.Errorf("the run ends with %s", raw)
	}
}

func TestParseInput_faults(t *testing.T) {
	t.Parallel()
	for body, pointer := range map[string]string{
		`{"runId":"r"}`:                     "/threadId",
		`{"threadId":"s"}`:                  "/runId",
		`{"threadId":"s","runId":"\u0001"}`: "/runId",
		`{"threadId":"s","runId":"r","messages":[{"role":"user"}]}`:                         "/messages/0/id",
		`{"threadId":"s","runId":"r","messages":[{"id":"m"}]}`:                              "/messages/0/role",
		`{"threadId":"s","runId":"r","messages":[3]}`:                                       "/messages/0",
		`{"threadId":"s","runId":"r","state":[]}`:                                           "/state",
		`{"threadId":"s","runId":"r","resume":[{"interruptId":"i","status":"x"}]}`:          "/resume/0/status",
		`{"threadId":"s","runId":"r","forwardedProps":{"rethread":{"on_active":"always"}}}`: "/forwardedProps/rethread/on_active",
	} {
		_, err := aguiconvert.ParseInput([]byte(body))
		var f *fault.Error
		if !errors.As(err, &f) || len(f.Violations) != 1 || f.Violations[0].Pointer != pointer {
			t.Errorf("%s gives %v, want an error at %s", body, err, pointer)
		}
	}
	for body, pointer := range map[string]string{
		`"messages":[{"id":"t","role":"tool","toolCallId":"c","content":"x"}]`:                                     "/messages/0/toolCallId",
		`"messages":[{"id":"t","role":"user","content":3}]`:                                                        "/messages/0/content",
		`"messages":[],"resume":[{"interruptId":"i","status":"resolved"}]`:                                         "/resume/0/interruptId",
		`"messages":[],"forwardedProps":{"rethread":{"regenerate":true}}`:                                          "/messages",
		`"messages":[{"id":"t","role":"user","content":[{"type":"text"}]}]`:                                        "/messages/0/content/0",
		`"messages":[{"id":"t","role":"user","content":[{"type":"binary","mimeType":"a/b","data":"%%"}]}]`:         "/messages/0/content/0/data",
		`"messages":[{"id":"t","role":"user","content":[{"type":"binary","mimeType":"a/b"}]}]`:                     "/messages/0/content/0",
		`"messages":[{"id":"t","role":"user","content":[{"type":"image","source":{"type":"data","value":"%%"}}]}]`: "/messages/0/content/0/source/value",
		`"messages":[{"id":"t","role":"user","content":[{"type":"image","source":{"type":"url","value":"x"}}]}]`:   "/messages/0/content/0/source/value",
		`"messages":[{"id":"\u0001","role":"user","content":"a control character"}]`:                               "/messages/0/id",
	} {
		_, err := request(t, `{"threadId":"s","runId":"r",`+body+`}`).Plan(conversation.History{}, conversation.Ends{})
		var f *fault.Error
		if !errors.As(err, &f) || len(f.Violations) != 1 || f.Violations[0].Pointer != pointer {
			t.Errorf("%s gives %v, want an error at %s", body, err, pointer)
		}
	}
}
