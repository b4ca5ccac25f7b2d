package agent_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
)

// contents are contents that sessions keep, because they keep all members as they came,
// but that are not of the shape that agents are sent. Each is said with a word, which
// the request has if a model could make use of it.
func contents() map[string]string {
	return map[string]string{
		"parts that are an object":     `{"parts":{"text":"WORD"}}`,
		"parts that are a text":        `{"parts":"WORD"}`,
		"parts that are a number":      `{"parts":5}`,
		"a role that is a number":      `{"role":5,"parts":[{"text":"WORD"}]}`,
		"a role that is an object":     `{"role":{},"parts":[{"text":"WORD"}]}`,
		"no parts":                     `{"role":"model"}`,
		"parts of null":                `{"role":"model","parts":null}`,
		"a part of null":               `{"role":"model","parts":[null,{"text":"WORD"}]}`,
		"a part that is a text":        `{"role":"model","parts":["WORD"]}`,
		"a part that is an array":      `{"role":"user","parts":[["WORD"]]}`,
		"a text that is a number":      `{"role":"model","parts":[{"text":5,"x":"WORD"}]}`,
		"a text that is an object":     `{"role":"user","parts":[{"text":{"x":"WORD"}}]}`,
		"a thought that is a text":     `{"role":"model","parts":[{"text":"WORD","thought":"yes"}]}`,
		"a call that is a text":        `{"role":"model","parts":[{"function_call":"WORD"}]}`,
		"a call without a name":        `{"role":"model","parts":[{"function_call":{"id":"c","args":{"x":"WORD"}}}]}`,
		"a call's name in an object":   `{"role":"model","parts":[{"function_call":{"name":{"x":"WORD"}}}]}`,
		"arguments that are a text":    `{"role":"model","parts":[{"function_call":{"id":"c","name":"f","args":"WORD"}}]}`,
		"arguments that are an array":  `{"role":"model","parts":[{"function_call":{"id":"c","name":"f","args":["WORD"]}}]}`,
		"a response that is a text":    `{"role":"user","parts":[{"function_response":"WORD"}]}`,
		"a response to nothing":        `{"role":"user","parts":[{"function_response":{"response":"WORD"}}]}`,
		"a response's id as a number":  `{"role":"user","parts":[{"function_response":{"id":1,"response":{"x":"WORD"}}}]}`,
		"bytes that are a number":      `{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":5,"x":"WORD"}}]}`,
		"bytes that are not base64":    `{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"?","x":"WORD"}}]}`,
		"a file without an address":    `{"role":"user","parts":[{"file_data":{"file_uri":5,"x":"WORD"}}]}`,
		"code that is a number":        `{"role":"model","parts":[{"executable_code":{"code":5,"x":"WORD"}}]}`,
		"a code's result that is none": `{"role":"model","parts":[{"code_execution_result":{"outcome":{"x":"WORD"}}}]}`,
		"data that is a number":        `{"role":"user","parts":[{"data":5}]}`,
		"metadata that is a text":      `{"role":"user","parts":[{"text":"WORD","part_metadata":"x"}]}`,
	}
}

// kinds answers like an agent of each kind, whose address is its name.
type kinds struct {
	t    *testing.T
	url  string
	mu   sync.Mutex
	sent string // what the agent was sent
}

func (k *kinds) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		k.t.Error(err)
	}
	k.mu.Lock()
	k.sent += string(raw)
	k.mu.Unlock()
	const reply = `"messageId":"m","parts":[{%s"text":"yes"}]`
	var call struct{ ID json.RawMessage }
	answer := ""
	switch path := r.URL.Path; {
	case path == "/http" || path == "/":
		answer = `{"events":[{"content":{"parts":[{"text":"yes"}]}}]}`
	case path == "/models/chat/completions":
		answer = `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`
	case path == "/models/responses":
		answer = `{"id":"r","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}]}`
	case path == "/ag_ui":
		agenttest.Streams(`data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}`+"\n\n"+
			`data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}`+"\n\n")(rw, r)
		return
	case path == "/run_sse":
		agenttest.Streams(`data: {"id":"e","author":"helper","content":{"role":"model","parts":[{"text":"yes"}]}}`+"\n\n")(rw, r)
		return
	case strings.HasPrefix(path, "/apps/"):
		answer = `{"id":"x","events":[],"state":{}}`
	case path == "/a2a/.well-known/agent-card.json":
		answer = `{"supportedInterfaces":[{"url":"` + k.url + `/a2a/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
	case path == "/old/.well-known/agent-card.json":
		answer = `{"url":"` + k.url + `/old/rpc","protocolVersion":"0.3.0","preferredTransport":"JSONRPC"}`
	case json.Unmarshal(raw, &call) != nil:
		k.t.Errorf("%s %s was sent %s", r.Method, path, raw)
	case path == "/a2a/rpc":
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"message":{"role":"ROLE_AGENT",`+reply+`}}}`, call.ID, "")
	case path == "/old/rpc":
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"kind":"message","role":"agent",`+reply+`}}`, call.ID, `"kind":"text",`)
	default:
		k.t.Errorf("%s %s", r.Method, path)
	}
	agenttest.Says("application/json", answer)(rw, r)
}

// take returns what was sent since the last call.
func (k *kinds) take() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	sent := k.sent
	k.sent = ""
	return sent
}

// One event must not end each run after it, whichever agent gets it: in the history, as
// the input, and as what was said before a worker was lost.
func TestShapes_of_contents_end_no_run(t *testing.T) {
	k := &kinds{t: t}
	k.url = agenttest.Serve(t, k)
	d := mustConfig(t, strings.ReplaceAll(`{"http":{"type":"http","url":"URL/http"},`+
		`"chat":{"type":"chat_completions","url":"URL/models","model":"m"},"responses":{"type":"responses","url":"URL/models","model":"m"},`+
		`"ag_ui":{"type":"ag_ui","url":"URL/ag_ui"},"a2a":{"type":"a2a","url":"URL/a2a"},"a2a 0.3":{"type":"a2a","url":"URL/old"},`+
		`"adk":{"type":"adk","url":"URL","app":"trips"}}`, "URL", k.url), nil)
	cases := 0
	for kind, of := range d {
		for shape, content := range contents() {
			for where := range 3 {
				cases++
				req := withContent(t, where, strings.ReplaceAll(content, "WORD", "wording"))
				err := of.Run(t.Context(), req, func(run.Output) error { return nil })
				sent := k.take()
				if err != nil {
					t.Errorf("%s, %s at %d: %v", kind, shape, where, err)
				}
				if !strings.Contains(sent, "plain") {
					t.Errorf("%s, %s at %d: the other events are not in %s", kind, shape, where, sent)
				}
				if strings.Contains(content, "WORD") && !strings.Contains(sent, "wording") {
					t.Errorf("%s, %s at %d: the content is not in %s", kind, shape, where, sent)
				}
			}
		}
	}
	if want := 7 * 28 * 3; cases < want {
		t.Errorf("%d cases, want %d", cases, want)
	}
}

// withContent returns a request with a content in the history (0), in the input (1) or in
// what was said before the run was continued (2), beside plain ones.
func withContent(t *testing.T, where int, content string) run.Request {
	t.Helper()
	odd := func(invocation, author string) string {
		return `{"id":"odd","invocation_id":"` + invocation + `","author":"` + author + `","content":` + content + `}`
	}
	req := agenttest.Ask(t, "plain")
	ask := req.Events
	switch where {
	case 0:
		req.Events = append(req.Events[:0:0], agenttest.Event(t, odd("r0", "helper")))
		req.Events = append(req.Events, ask...)
	case 1:
		req.Events = append(req.Events, agenttest.Event(t, odd("run-1", "user")))
	default:
		req.Said = append(req.Said, agenttest.Event(t, odd("run-1", "helper")))
		req.Said[0].Status = "failed"
		req.Continuation = 1
	}
	for i := range req.Events {
		req.Events[i].Seq = int64(i + 1)
	}
	return req
}
