package a2a_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
)

// FuzzRPC sends bodies of any kind to an agent's address, in both versions of
// the protocol. Each is answered as JSON-RPC has it, and none is a fault of ours.
func FuzzRPC(f *testing.F) {
	store := stores.New(storetest.Engine(f))
	handler := a2a.New(configOf(store))
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":{"id":"t","historyLength":-1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ListTasks","params":{"pageToken":"x","pageSize":0}}`,
		`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":null}}`, `{"jsonrpc":"2.0","method":"CancelTask"}`,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":5}}`, `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[5]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":true}}`, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}`,
		`{"jsonrpc":"2.0","id":{},"method":1}`, `[]`, `null`, `{`, "\xff",
	} {
		f.Add(false, seed)
		f.Add(true, seed)
	}
	f.Fuzz(func(t *testing.T, old bool, body string) {
		if strings.Contains(strings.ToLower(body), "subscribe") || strings.Contains(strings.ToLower(body), "stream") {
			return // these wait for updates and have tests of their own
		}
		version := "1.0"
		if old {
			version = ""
		}
		w := post(t, handler, version, "/a2a/helper", body)
		var answer struct {
			Error *struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if w.Code >= 500 || w.Code == http.StatusOK && json.Unmarshal(w.Body.Bytes(), &answer) != nil {
			t.Fatalf("%q: got %d %s", body, w.Code, w.Body)
		}
		if e := answer.Error; e != nil && (e.Code == -32603 || strings.Contains(e.Message, "Go ") || strings.Contains(e.Message, "json:")) {
			t.Errorf("%q: got %s", body, w.Body)
		}
	})
}
