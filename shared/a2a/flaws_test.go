package a2a_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// What its library takes for granted, or replaces without a word, is answered
// by the protocol's own error, under the id of the request.
func TestFlaws(t *testing.T) {
	h := newHooks(t)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":null}}`,
		`{"jsonrpc":"2.0","id":7,"method":"message/stream","params":{}}`,
		`{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":null}}`,
		`{"jsonrpc":"2.0","id":7,"method":"SendStreamingMessage","params":{}}`,
		`{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"\ud800"}]}}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"SendMessage\",\"params\":{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"\xff\"}]}}}",
	} {
		t.Run(body[:60], func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+"/a2a/helper", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			answer, err := (&http.Client{Transport: as(alice)}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close() //nolint:errcheck // it is only read
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(text); answer.StatusCode >= 500 || !strings.Contains(got, "-32602") || !strings.Contains(got, `"id":7`) ||
				!strings.Contains(got, "message") || strings.Contains(got, "Go ") {
				t.Errorf("%d %s", answer.StatusCode, got)
			}
		})
	}
}
