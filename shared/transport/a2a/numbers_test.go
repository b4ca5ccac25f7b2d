package a2a_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Integers beyond 2^53 are stored and sent back digit for digit, in both versions and
// both bindings.
func TestNumbersKeepTheirDigits(t *testing.T) {
	const (
		data     = `{"n":9007199254740993,"list":[18446744073709551617,1.10]}`
		metadata = `{"mine":9007199254740995}`
		rpc      = `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":%s}}`
		first    = `{"messageId":"m-%[2]s","contextId":"c","role":"ROLE_USER","parts":[{"text":"hi"},{"data":%[1]s,"metadata":{"part":9007199254740997}}],"metadata":` + metadata + `}`
		second   = `{"kind":"message","messageId":"m-%[2]s","contextId":"c","role":"user","parts":[{"kind":"text","text":"hi"},{"kind":"data","data":%[1]s,"metadata":{"part":9007199254740997}}],"metadata":` + metadata + `}`
	)
	for name, c := range map[string]struct{ version, path, body string }{
		"JSON-RPC of 1.0":  {"1.0", "", fmt.Sprintf(rpc, "SendMessage", fmt.Sprintf(first, data, "1"))},
		"HTTP+JSON of 1.0": {"1.0", "/message:send", `{"message":` + fmt.Sprintf(first, data, "2") + `}`},
		"JSON-RPC of 0.3":  {"", "", fmt.Sprintf(rpc, "message/send", fmt.Sprintf(second, data, "3"))},
		"HTTP+JSON of 0.3": {"", "/v1/message:send", `{"request":{"message_id":"m","context_id":"c","role":"ROLE_USER",` +
			`"content":[{"text":"hi"},{"data":{"data":` + data + `},"metadata":{"part":9007199254740997}}],"metadata":` + metadata + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newPushServer(t)
			body := strings.Replace(c.body, `"params":{`, `"params":{"configuration":{"blocking":false,"returnImmediately":true},`, 1)
			if c.path != "" {
				body = strings.TrimSuffix(body, "}") + `,"configuration":{"blocking":false,"returnImmediately":true}}`
			}
			status, answer := h.request(t, alice, c.version, http.MethodPost, "/a2a/helper"+c.path, body)
			for _, want := range []string{"9007199254740993", "18446744073709551617", "1.10", "9007199254740995", "9007199254740997"} {
				if status != http.StatusOK || !strings.Contains(answer, want) {
					t.Errorf("%d, without %s: %s", status, want, answer)
				}
			}
		})
	}
}
