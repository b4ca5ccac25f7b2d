package a2a_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
)

// rpc sends a JSON-RPC request and returns the members of its answer as they
// were written.
func rpc(t *testing.T, h http.Handler, version, id, method, params string) map[string]json.RawMessage {
	t.Helper()
	w := post(t, h, version, "/a2a/helper", `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`+params+`}`)
	var out map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return out
}

func TestAnswersHaveTheRequestsID(t *testing.T) {
	h := a2a.New(configOf(stores.New(storetest.Engine(t))))
	for _, id := range []string{"9007199254740993", "18446744073709551615", "-1", "1.50", "1e400", `"x"`, `"<&>"`, "null"} {
		for version, method := range map[string]string{"": "tasks/get", "1.0": "GetTask"} {
			if got := rpc(t, h, version, id, method, `{"id":"none"}`); string(got["id"]) != id || got["error"] == nil {
				t.Errorf("%s with the id %s: %s, %s", method, id, got["id"], got["error"])
			}
		}
	}
}

func TestOnlyUnparsableBodiesAreParseErrors(t *testing.T) {
	h := a2a.New(configOf(stores.New(storetest.Engine(t))))
	message := func(part string) string {
		return `{"message":{"kind":"message","messageId":"m","role":"user","parts":[` + part + `]}}`
	}
	for _, c := range []struct {
		name, version, body string
		code                int
	}{
		{"a cut body", "1.0", `{"jsonrpc":"2.0"`, -32700},
		{"an empty body", "", ``, -32700},
		{"a part without content", "1.0", request("SendMessage", message(`{}`)), -32602},
		{"a part of no known kind, 0.3", "", request("message/send", message(`{"kind":"smell"}`)), -32602},
		{"a part of no known kind in a stream, 0.3", "", request("message/stream", message(`{"kind":"smell"}`)), -32602},
		{"raw bytes that are not base64", "1.0", request("SendMessage", message(`{"raw":"!"}`)), -32602},
		{"a time that is none", "1.0", request("ListTasks", `{"statusTimestampAfter":"yesterday"}`), -32602},
		{"no parameters", "1.0", `{"jsonrpc":"2.0","id":1,"method":"GetTask"}`, -32602},
		{"null for parameters, 0.3", "", request("tasks/get", "null"), -32602},
		{"a method that is none, with an id", "1.0", `{"jsonrpc":"2.0","id":1,"method":7}`, -32600},
		{"no version of JSON-RPC", "1.0", `{"id":1,"method":"GetTask","params":{"id":"t"}}`, -32600},
		{"another version of JSON-RPC", "", `{"jsonrpc":"1.0","id":1,"method":"tasks/get","params":{"id":"t"}}`, -32600},
		{"a version that is a number", "", `{"jsonrpc":2.0,"id":1,"method":"tasks/get","params":{"id":"t"}}`, -32600},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := string(eventData(post(t, h, c.version, "/a2a/helper", c.body).Body.Bytes()))
			if code := rpcCode(t, []byte(answer)); code != c.code || goTypeError.MatchString(answer) {
				t.Errorf("want %d, got %s", c.code, answer)
			}
			if c.code != -32700 && (strings.Contains(answer, "PARSE_ERROR") || !strings.Contains(answer, `"id":1,`)) {
				t.Errorf("got %s", answer)
			}
		})
	}
	t.Run("a list without parameters lists", func(t *testing.T) {
		w := post(t, h, "1.0", "/a2a/helper", `{"jsonrpc":"2.0","id":1,"method":"ListTasks"}`)
		if !strings.Contains(w.Body.String(), `"tasks":[]`) {
			t.Errorf("got %s", w.Body)
		}
	})
}

// eventData returns the data of the only event of a stream; a body that is no
// stream stays as it is.
func eventData(body []byte) []byte {
	if _, data, ok := bytes.Cut(body, []byte("\ndata: ")); ok {
		return bytes.TrimSpace(data)
	}
	return body
}

func request(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

func TestPushConfigAnswers(t *testing.T) {
	h := newPushServer(t)
	begun := h.mustTask(t, h.mustDial(t, alice, "JSONRPC", "1.0"), nil)
	for version, prefix := range map[string]string{"": "tasks/pushNotificationConfig/", "1.0": ""} {
		method, params := "DeleteTaskPushNotificationConfig", `{"taskId":"`+string(begun.ID)+`","id":"c"}`
		if version == "" {
			method, params = prefix+"delete", `{"id":"`+string(begun.ID)+`","pushNotificationConfigId":"c"}`
		}
		if got := rpc(t, h.handler, version, "1", method, params); string(got["result"]) != "null" {
			t.Errorf("%s answers %v", method, got)
		}
	}
	got := rpc(t, h.handler, "", "1", "tasks/pushNotificationConfig/list", `{"id":"`+string(begun.ID)+`"}`)
	if string(got["result"]) != "[]" {
		t.Errorf("an empty list is %s", got["result"])
	}
}

// Clients of 0.3 read the answer to a stream only as a stream, those of 1.0 an
// error before the first event also as plain JSON.
func TestErrorsBeforeTheFirstEvent(t *testing.T) {
	h := a2a.New(configOf(stores.New(storetest.Engine(t))))
	for _, c := range []struct{ version, method, params, kind string }{
		{"", "message/stream", `{"message":null}`, "text/event-stream"},
		{"0.3", "tasks/resubscribe", `{"id":"none"}`, "text/event-stream"},
		{"", "message/stream", `{"message":{"kind":"message","messageId":"m","role":"user","parts":[]}}`, "text/event-stream"},
		{"1.0", "SubscribeToTask", `{"id":"none"}`, "application/json"},
		{"1.0", "SendStreamingMessage", `{}`, "application/json"},
	} {
		w := post(t, h, c.version, "/a2a/helper", request(c.method, c.params))
		body := w.Body.String()
		isEvent := strings.Contains(body, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\"")
		if got := w.Header().Get("Content-Type"); got != c.kind || isEvent != (c.kind == "text/event-stream") || w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %s %s", c.method, c.params, w.Code, got, body)
		}
	}
}
