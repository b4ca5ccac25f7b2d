package ws_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// TestPayloads decodes events as API Gateway sends them.
func TestPayloads(t *testing.T) {
	for file, calls := range map[string][]string{
		"watch-connect.json":    nil,
		"watch-subscribe.json":  {"subscribe alice s1 JKJaXfcWvHcCFHg=", "since alice s1 0.1.0 item:"},
		"watch-disconnect.json": {"disconnect JKJaXfcWvHcCFHg="},
	} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			var event events.APIGatewayWebsocketProxyRequest
			if err := json.Unmarshal(text, &event); err != nil {
				t.Fatal(err)
			}
			w := newFakeDomain(t)
			if got := w.mustHandle(event); got.StatusCode != http.StatusOK {
				t.Errorf("got %d", got.StatusCode)
			}
			w.wantCalls(calls...)
		})
	}
}
