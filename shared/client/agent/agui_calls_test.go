package agent_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
)

// sendsAndWaits returns a server that sends a part of a stream and then waits until its
// caller leaves, which left reports.
func sendsAndWaits(t *testing.T, text string, left chan<- struct{}) http.HandlerFunc {
	t.Helper()
	return func(rw http.ResponseWriter, r *http.Request) {
		streams(text)(rw, r)
		if err := http.NewResponseController(rw).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		left <- struct{}{}
	}
}

func TestAGUICalls(t *testing.T) {
	partly := aguiStream(runStarted, textBegins, textSays)
	t.Run("a cancelled run closes the connection", func(t *testing.T) {
		left := make(chan struct{}, 1)
		a := newAGUI(t, sendsAndWaits(t, partly, left), agent.Frontend{})
		ctx, cancel := cancelledBy(t)
		err := a.Run(ctx, ask(t, "hi"), func(run.Output) error {
			cancel(errStopped)
			return nil
		})
		if !errors.Is(err, errStopped) {
			t.Errorf("got %v", err)
		}
		<-left
	})
	t.Run("a silent agent", func(t *testing.T) {
		left := make(chan struct{}, 1)
		url := serve(t, sendsAndWaits(t, partly, left))
		a := agent.NewAGUI(agent.Endpoint{URL: url, Timeouts: agent.Timeouts{Idle: 100 * time.Millisecond}}, agent.Frontend{})
		t.Cleanup(a.Close)
		r, err := record(t, a, ask(t, "hi"))
		wantError(t, err, agent.CodeTimeout, "silent for 100ms")
		if len(r.log) != 2 {
			t.Errorf("what came before: %q", r.log)
		}
		<-left
	})
	for name, c := range map[string]struct {
		answer     http.HandlerFunc
		code, says string
	}{
		"a connection that is cut": {func(rw http.ResponseWriter, r *http.Request) {
			streams(partly)(rw, r)
			if err := http.NewResponseController(rw).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}, agent.CodeEndedEarly, "ended early"},
		"an agent that is busy": {func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			rw.WriteHeader(http.StatusTooManyRequests)
		}, agent.CodeRefused, "status 429"},
		"a request that is refused": {func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			rw.WriteHeader(http.StatusUnprocessableEntity)
		}, agent.CodeRefused, "status 422"},
		"a redirect to another host": {func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://elsewhere.invalid/", http.StatusTemporaryRedirect)
		}, agent.CodeRefused, "redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := record(t, newAGUI(t, c.answer, agent.Frontend{}), ask(t, "hi"))
			wantError(t, err, c.code, c.says)
		})
	}
}
