package a2a_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/usage"
)

// reportingStreams reports each renewal of a lease to a waiting test.
type reportingStreams struct {
	*usage.Store
	renewed chan struct{}
}

func (r reportingStreams) RenewStream(ctx context.Context, l quota.Lease, lasting time.Duration) error {
	err := r.Store.RenewStream(ctx, l, lasting)
	if err == nil {
		select {
		case r.renewed <- struct{}{}:
		default:
		}
	}
	return err
}

func (r *rig) mustHaveOpen(t *testing.T, want int64) {
	t.Helper()
	u, err := r.store.Runs.Usage(t.Context(), alice)
	if err != nil || u.Streams.Used != want {
		t.Errorf("%d streams are open, %v, want %d", u.Streams.Used, err, want)
	}
}

func TestOpenStreams(t *testing.T) {
	t.Parallel()
	t.Run("renews a stream's lease until its task is over", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*fakeFanOut).send)
		received := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
		w := r.mustWork(t)
		for range 4 {
			r.clock.add(10 * time.Second)
			for range 2 { // the first may have begun before
				select {
				case <-r.renewed:
				case <-time.After(maxWait):
					t.Fatal("the lease is not renewed")
				}
			}
			r.mustHaveOpen(t, 1)
		}
		w.endRun(t, run.Completed, nil)
		received.end(t)
		r.mustHaveOpen(t, 0)
	})
	t.Run("refuses one stream too many before a run is started", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*fakeFanOut).send)
		for range maxStreams {
			if _, err := r.store.Usage.TakeStream(t.Context(), quota.Stream{UserID: alice, Subject: "a session", Lasting: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range r.client.SendStreamingMessage(t.Context(), r.message("hello")) {
			if err == nil || !strings.Contains(err.Error(), "8 streams open, of 8 allowed") {
				t.Errorf("got %v", err)
			}
		}
		if len(r.started) != 0 {
			t.Error("a run was started")
		}
	})
}

// A blocking SendMessage counts as an open stream.
func TestBlockingSend(t *testing.T) {
	t.Parallel()
	t.Run("holds a lease until the task is over", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*fakeFanOut).send)
		answered := make(chan error, 1)
		go func() {
			_, err := r.client.SendMessage(t.Context(), r.message("hello"))
			answered <- err
		}()
		w := r.mustWork(t)
		r.mustHaveOpen(t, 1)
		w.endRun(t, run.Completed, nil)
		if err := <-answered; err != nil {
			t.Error(err)
		}
		r.mustHaveOpen(t, 0)
	})
	t.Run("refuses one call too many, but not one that returns immediately", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*fakeFanOut).send)
		for range maxStreams {
			if _, err := r.store.Usage.TakeStream(t.Context(), quota.Stream{UserID: alice, Subject: "a session", Lasting: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := r.client.SendMessage(t.Context(), r.message("hello"))
		if err == nil || !strings.Contains(err.Error(), "8 streams open, of 8 allowed") || len(r.started) != 0 {
			t.Errorf("got %v, and %d runs", err, len(r.started))
		}
		req := r.message("hello")
		req.Config = &lib.SendMessageConfig{ReturnImmediately: true}
		if _, err := r.client.SendMessage(t.Context(), req); err != nil {
			t.Error(err)
		}
	})
}

// When a function's time is up before its task is over, the stream ends in
// order, and a client that subscribes again misses nothing.
func TestFunctionDeadline(t *testing.T) {
	t.Parallel()
	r := newRig(t, (*fakeFanOut).send)
	ctx, timeUp := context.WithCancel(access.WithCaller(t.Context(), access.Caller{UserID: alice, Token: "token"}))
	defer timeUp()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":`+
		`{"message":{"messageId":"m","role":"ROLE_USER","contextId":%q,"parts":[{"text":"hi"}]}}}`, r.context)
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/a2a/helper", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	rec, ended := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(ended)
		r.handler.ServeHTTP(rec, req)
	}()
	w := r.mustWork(t)
	r.fanOut.mustHaveConnection(t)
	w.write(t, "a")
	timeUp()
	select {
	case <-ended:
	case <-time.After(maxWait):
		t.Fatal("the stream does not end")
	}
	if text := rec.Body.String(); rec.Code != http.StatusOK || strings.Contains(text, `"error"`) || !strings.Contains(text, w.ref.RunID) {
		t.Errorf("%d %s", rec.Code, text)
	}
	until(t, "the lease is returned", func() bool {
		u, err := r.store.Runs.Usage(t.Context(), alice)
		return err == nil && u.Streams.Used == 0
	})
	w.write(t, "b")
	again := r.listen(t, r.client.SubscribeToTask(t.Context(), &lib.SubscribeToTaskRequest{ID: lib.TaskID(w.ref.RunID)}))
	again.untilText(t, "ab")
	w.write(t, "c")
	again.untilText(t, "abc")
	w.completeItem(t)
	w.endRun(t, run.Completed, nil)
	again.mustEndAs(t, r, lib.TaskStateCompleted)
}

// absentReader is a reader that has left, which Lambda does not report to a
// function.
type absentReader struct{ *httptest.ResponseRecorder }

func (absentReader) Write(text []byte) (int, error) { return len(text), nil }

// Streams of both versions end with the task although the reader has left.
func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	for version, calls := range map[string]struct{ send, subscribe string }{
		"1.0": {
			`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","contextId":%q,"parts":[{"text":"hi"}]}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":%q}}`,
		},
		"0.3": {
			`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","contextId":%q,"parts":[{"kind":"text","text":"hi"}]}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":%q}}`,
		},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, (*fakeFanOut).send)
			ended := make(chan int, 2)
			call := func(format, id string) {
				req := httptest.NewRequestWithContext(access.WithCaller(t.Context(), access.Caller{UserID: alice, Token: "token"}), http.MethodPost,
					"/a2a/helper", strings.NewReader(fmt.Sprintf(format, id)))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("A2A-Version", version)
				rec := httptest.NewRecorder()
				r.handler.ServeHTTP(absentReader{rec}, req)
				if got := rec.Header().Get("Content-Type"); got != "text/event-stream" {
					t.Errorf("%s is answered with %s", req.Method, got)
				}
				ended <- rec.Code
			}
			go call(calls.send, r.context)
			w := r.mustWork(t)
			w.write(t, "a")
			go call(calls.subscribe, w.ref.RunID)
			until(t, "two open streams", func() bool {
				u, err := r.store.Runs.Usage(t.Context(), alice)
				return err == nil && u.Streams.Used == 2
			})
			w.completeItem(t)
			w.endRun(t, run.Completed, nil)
			for range 2 {
				select {
				case <-ended:
				case <-time.After(maxWait):
					t.Fatal("an unread stream does not end")
				}
			}
			r.mustHaveOpen(t, 0)
		})
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	timeout, tick := time.NewTimer(maxWait), time.NewTicker(10*time.Millisecond)
	defer timeout.Stop()
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-timeout.C:
			t.Fatal("timed out waiting for " + what)
		}
	}
}
