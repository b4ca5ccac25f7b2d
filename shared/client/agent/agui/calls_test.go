package agui_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/agui"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

// sendsAndWaits returns a server that sends a part of a stream and then waits until its
// caller leaves, which left reports.
func sendsAndWaits(t *testing.T, text string, left chan<- struct{}) http.HandlerFunc {
	t.Helper()
	return func(rw http.ResponseWriter, r *http.Request) {
		agenttest.Streams(text)(rw, r)
		if err := http.NewResponseController(rw).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		left <- struct{}{}
	}
}

func TestCalls(t *testing.T) {
	partly := aguiStream(runStarted, textBegins, textSays)
	t.Run("a cancelled run closes the connection", func(t *testing.T) {
		left := make(chan struct{}, 1)
		a := newAGUI(t, sendsAndWaits(t, partly, left), agentconfig.Frontend{})
		ctx, cancel := agenttest.CancelledBy(t)
		err := a.Run(ctx, agenttest.Ask(t, "hi"), func(run.Output) error {
			cancel(agenttest.ErrStopped)
			return nil
		})
		if !errors.Is(err, agenttest.ErrStopped) {
			t.Errorf("got %v", err)
		}
		<-left
	})
	t.Run("a silent agent", func(t *testing.T) {
		// A busy machine may need longer for what came before.
		for idle := 100 * time.Millisecond; ; idle *= 4 {
			left := make(chan struct{}, 1)
			url := agenttest.Serve(t, sendsAndWaits(t, partly, left))
			a := agui.New(agentconfig.Endpoint{URL: url, Timeouts: agentconfig.Timeouts{Idle: idle}}, agentconfig.Frontend{})
			t.Cleanup(a.Close)
			r, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, endpoint.CodeTimeout, fmt.Sprint("silent for ", idle))
			<-left
			if len(r.Log) == 2 {
				return
			}
			if idle > time.Minute {
				t.Fatalf("what came before: %q", r.Log)
			}
		}
	})
	for name, c := range map[string]struct {
		answer     http.HandlerFunc
		code, says string
	}{
		"a connection that is cut": {func(rw http.ResponseWriter, r *http.Request) {
			agenttest.Streams(partly)(rw, r)
			if err := http.NewResponseController(rw).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}, endpoint.CodeEndedEarly, "ended early"},
		"an agent that is busy": {func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			rw.WriteHeader(http.StatusTooManyRequests)
		}, endpoint.CodeRefused, "status 429"},
		"a request that is refused": {func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			rw.WriteHeader(http.StatusUnprocessableEntity)
		}, endpoint.CodeRefused, "status 422"},
		"a redirect to another host": {func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://elsewhere.invalid/", http.StatusTemporaryRedirect)
		}, endpoint.CodeRefused, "redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agenttest.Record(t, newAGUI(t, c.answer, agentconfig.Frontend{}), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, c.says)
		})
	}
}
