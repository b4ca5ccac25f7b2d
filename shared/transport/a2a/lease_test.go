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

	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
)

// renewals tells of each lease that was renewed, if anybody waits for it.
type renewals struct {
	*stores.Store
	renewed chan struct{}
}

func (r renewals) RenewStream(ctx context.Context, l quota.Lease, lasting time.Duration) error {
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
	u, err := r.store.Usage(t.Context(), alice)
	if err != nil || u.Streams.Used != want {
		t.Errorf("%d streams are open, %v, want %d", u.Streams.Used, err, want)
	}
}

func TestOpenStreams(t *testing.T) {
	t.Parallel()
	t.Run("a stream has a place until its task is over, however long it takes", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*newsroom).tell)
		heard := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
		w := r.mustWork(t)
		for range 4 {
			r.clock.add(10 * time.Second)
			for range 2 { // the first may have been under way
				select {
				case <-r.renewed:
				case <-time.After(patience):
					t.Fatal("the lease is never renewed")
				}
			}
			r.mustHaveOpen(t, 1)
		}
		w.ends(t, run.Completed, nil)
		heard.end(t)
		r.mustHaveOpen(t, 0)
	})
	t.Run("one too many is refused before anything is begun", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*newsroom).tell)
		for range maxStreams {
			if _, err := r.store.TakeStream(t.Context(), quota.Stream{UserID: alice, Subject: "a session", Lasting: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range r.client.SendStreamingMessage(t.Context(), r.say("hello")) {
			if err == nil || !strings.Contains(err.Error(), "8 streams open, of 8 allowed") {
				t.Errorf("got %v", err)
			}
		}
		if len(r.started) != 0 {
			t.Error("a run was started")
		}
	})
}

// A message that is waited for holds its function like a stream.
func TestBlockingSend(t *testing.T) {
	t.Parallel()
	t.Run("it has a place until the task is over", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*newsroom).tell)
		answered := make(chan error, 1)
		go func() {
			_, err := r.client.SendMessage(t.Context(), r.say("hello"))
			answered <- err
		}()
		w := r.mustWork(t)
		r.mustHaveOpen(t, 1)
		w.ends(t, run.Completed, nil)
		if err := <-answered; err != nil {
			t.Error(err)
		}
		r.mustHaveOpen(t, 0)
	})
	t.Run("one too many is refused before anything is begun, one that nobody waits for is not", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*newsroom).tell)
		for range maxStreams {
			if _, err := r.store.TakeStream(t.Context(), quota.Stream{UserID: alice, Subject: "a session", Lasting: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := r.client.SendMessage(t.Context(), r.say("hello"))
		if err == nil || !strings.Contains(err.Error(), "8 streams open, of 8 allowed") || len(r.started) != 0 {
			t.Errorf("got %v, and %d runs", err, len(r.started))
		}
		req := r.say("hello")
		req.Config = &lib.SendMessageConfig{ReturnImmediately: true}
		if _, err := r.client.SendMessage(t.Context(), req); err != nil {
			t.Error(err)
		}
	})
}

// A function's time is up before a long task is over: then its stream ends, in
// order, and whoever subscribes again misses nothing.
func TestTimeUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, (*newsroom).tell)
	ctx, timeUp := context.WithCancel(a2a.WithCaller(t.Context(), alice, "token"))
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
	r.news.mustBeHeard(t)
	w.says(t, "a")
	timeUp()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
	if text := rec.Body.String(); rec.Code != http.StatusOK || strings.Contains(text, `"error"`) || !strings.Contains(text, w.ref.RunID) {
		t.Errorf("%d %s", rec.Code, text)
	}
	until(t, "its place is free", func() bool {
		u, err := r.store.Usage(t.Context(), alice)
		return err == nil && u.Streams.Used == 0
	})
	w.says(t, "b")
	again := r.listen(t, r.client.SubscribeToTask(t.Context(), &lib.SubscribeToTaskRequest{ID: lib.TaskID(w.ref.RunID)}))
	again.until(t, "ab")
	w.says(t, "c")
	again.until(t, "abc")
	w.completes(t)
	w.ends(t, run.Completed, nil)
	again.mustEndAs(t, r, lib.TaskStateCompleted)
}

// deaf is a reader who has left, of which Lambda tells a function nothing.
type deaf struct{ *httptest.ResponseRecorder }

func (deaf) Write(text []byte) (int, error) { return len(text), nil }

// Whoever has left, streams of both versions end with the task.
func TestLeft(t *testing.T) {
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
			r := newRig(t, (*newsroom).tell)
			ended := make(chan int, 2)
			call := func(format, id string) {
				req := httptest.NewRequestWithContext(a2a.WithCaller(t.Context(), alice, "token"), http.MethodPost,
					"/a2a/helper", strings.NewReader(fmt.Sprintf(format, id)))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("A2A-Version", version)
				rec := httptest.NewRecorder()
				r.handler.ServeHTTP(deaf{rec}, req)
				if got := rec.Header().Get("Content-Type"); got != "text/event-stream" {
					t.Errorf("%s is answered with %s", req.Method, got)
				}
				ended <- rec.Code
			}
			go call(calls.send, r.context)
			w := r.mustWork(t)
			w.says(t, "a")
			go call(calls.subscribe, w.ref.RunID)
			until(t, "both have begun", func() bool {
				u, err := r.store.Usage(t.Context(), alice)
				return err == nil && u.Streams.Used == 2
			})
			w.completes(t)
			w.ends(t, run.Completed, nil)
			for range 2 {
				select {
				case <-ended:
				case <-time.After(patience):
					t.Fatal("a stream that nobody reads never ends")
				}
			}
			r.mustHaveOpen(t, 0)
		})
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	timeout, look := time.NewTimer(patience), time.NewTicker(10*time.Millisecond)
	defer timeout.Stop()
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-timeout.C:
			t.Fatal("never came: " + what)
		}
	}
}
