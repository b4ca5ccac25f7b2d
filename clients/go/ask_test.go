package rethread_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	rethread "github.com/rethread/rethread/clients/go"
)

// TestAsk plays a run that the server streams.
func TestAsk(t *testing.T) {
	const run = `{"id":"r1","status":"completed","ended_time":7}`
	thread := func(status, more string) string {
		return `{"data":{"session":{"id":"s"},"items":[{"id":"e1","seq":1,"invocation_id":"r1","author":"user","status":"completed",` +
			`"content":{"role":"user","parts":[{"text":"Well?"}]}}],"status":"` + status + `","cursor":"0.1.0","run":` +
			`{"id":"r1","status":"in_progress"}` + more + `},"meta":{"next_cursor":null},"run_id":"r1"}`
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Method + " " + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		body, _ := io.ReadAll(r.Body) // a request without one has none
		asked = append(asked, strings.TrimSpace(name+" "+string(body)))
		w.Header().Set("Content-Type", "application/json")
		switch name {
		case "POST runs":
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, thread("in_progress", ""))
		case "GET thread":
			_, _ = io.WriteString(w, thread("in_progress", ""))
		case "GET watch":
			w.Header().Set("Content-Type", "text/event-stream")
			item := func(status, text string) string {
				return `"item":{"id":"e2","seq":2,"invocation_id":"r1","author":"a","status":"` + status + `","content":{"role":"model",` +
					`"parts":[{"text":"hm","thought":true},{"text":"` + text + `"}]}}`
			}
			for _, m := range []string{
				`{"type":"item.snapshot","session_id":"s","cursor":"0.2.0","prev":"0.1.0","offset":0,` + item("in_progress", "It") + `}`,
				`{"type":"item.delta","session_id":"s","cursor":"0.2.1","prev":"0.2.0","item_id":"e2","offset":1,"delta":{"part":1,"text":" is 4."}}`,
				`{"type":"item.completed","session_id":"s","cursor":"0.2.2","prev":"0.2.1",` + item("completed", "It is 4.") + `}`,
				`{"type":"thread.status","session_id":"s","cursor":"0.3.0","prev":"0.2.2","status":"idle","run_id":null,"error":null}`,
			} {
				_, _ = fmt.Fprintf(w, "data: %s\n\n", m) // the reader may have left
			}
		default:
			_, _ = io.WriteString(w, `{"data":`+run+`,"meta":{"next_cursor":null}}`)
		}
	}))
	t.Cleanup(server.Close)
	client, err := rethread.New(rethread.Config{URL: server.URL, StreamURL: server.URL, Token: rethread.StaticToken("t")})
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	answer, err := client.Ask(t.Context(), "s", "Well?", func(piece string) { said.WriteString(piece) })
	if err != nil || answer.Text != "It is 4." || answer.Run.ID != "r1" || said.String() != answer.Text {
		t.Errorf("got %+v, said %q: %v", answer, said.String(), err)
	}
	if asked[0] != `POST runs {"input":[{"content":{"role":"user","parts":[{"text":"Well?"}]}}]}` || !slices.Contains(asked, "GET watch") {
		t.Errorf("asked %q", asked)
	}
	if waited, err := client.Runs.Wait(t.Context(), "s", "r1"); err != nil || waited.ID != "r1" {
		t.Errorf("waited for %+v: %v", waited, err)
	}
}
