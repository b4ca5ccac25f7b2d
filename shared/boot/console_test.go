package boot_test

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/console"
)

// largestAnswer is Lambda's limit of a response in bytes.
const largestAnswer = 6 << 20

// Files of any content must pass through the gateway's events unchanged.
func TestConsoleFiles(t *testing.T) {
	files := map[string][]byte{
		"index.html":         []byte("<!doctype html>"),
		"assets/icon.woff2":  {0, 0xff, 0xfe, 0x80},
		"assets/app.js":      []byte(strings.Repeat("\"\\\n\u0001", 1<<20)), // each becomes several in JSON
		"assets/largest.bin": []byte(strings.Repeat("\xff", 4<<20)),
	}
	page := fstest.MapFS{}
	for name, data := range files {
		page[name] = &fstest.MapFile{Data: data}
	}
	handler, err := console.New(console.Config{Page: page, WatchURL: "wss://ws.example", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	invoke := boot.HTTP(handler)
	for name, want := range files {
		t.Run(name, func(t *testing.T) {
			answer, err := invoke(t.Context(), fileEvent(name, nil))
			if err != nil {
				t.Fatal(err)
			}
			got := []byte(answer.Body)
			if answer.IsBase64Encoded {
				if got, err = base64.StdEncoding.DecodeString(answer.Body); err != nil {
					t.Fatal(err)
				}
			}
			if answer.StatusCode != http.StatusOK || !bytes.Equal(want, got) {
				t.Errorf("%d, %d bytes, want %d", answer.StatusCode, len(got), len(want))
			}
			if len(answer.Body) > largestAnswer {
				t.Errorf("the answer has %d bytes", len(answer.Body))
			}
		})
	}
	t.Run("returns 304 for a file that the browser has cached", func(t *testing.T) {
		first, err := invoke(t.Context(), fileEvent("assets/app.js", nil))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := invoke(t.Context(), fileEvent("assets/app.js", map[string]string{"if-none-match": first.Headers["Etag"]}))
		if err != nil || answer.StatusCode != http.StatusNotModified || answer.Body != "" {
			t.Errorf("%v: %d, %d bytes", err, answer.StatusCode, len(answer.Body))
		}
	})
}

// fileEvent returns a request for a file of the console.
func fileEvent(name string, headers map[string]string) events.APIGatewayV2HTTPRequest {
	event := events.APIGatewayV2HTTPRequest{
		RouteKey: "GET /console/{path+}", RawPath: "/console/" + name, Headers: headers,
		PathParameters: map[string]string{"path": name},
	}
	event.RequestContext.HTTP.Method = http.MethodGet
	event.RequestContext.DomainName = "api.example"
	return event
}
