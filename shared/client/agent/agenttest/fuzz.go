package agenttest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

// FuzzStream checks that an agent whose server answers with an arbitrary stream
// satisfies the contract of run.Agent or fails with an *endpoint.Error.
func FuzzStream(f *testing.F, newAgent func(url string) run.Agent) {
	f.Helper()
	var answer atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/apps/") { // a session of ADK's, or its artifact
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "null")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, *answer.Load())
	}))
	f.Cleanup(server.Close)
	a := newAgent(server.URL)
	f.Cleanup(a.(interface{ Close() }).Close)
	f.Fuzz(func(t *testing.T, body string) {
		answer.Store(&body)
		_, err := Record(t, a, Ask(t, "hi"))
		var failed *endpoint.Error
		if err != nil && !errors.As(err, &failed) {
			t.Errorf("%q: %v is no error of an agent", body, err)
		}
	})
}
