package boot_test

import (
	"net/http"
	"testing"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// TestWatching covers the whole path: the table, its stream, the fan-out, the gateway,
// and clients of both transports.
func TestWatching(t *testing.T) {
	w := newWatched(t)
	if _, err := w.store.Sessions.Create(t.Context(), session.New{ID: "s", UserID: "alice"}); err != nil {
		t.Fatal(err)
	}
	send, next, _ := w.dial(t, "alice")
	send(`{"action":"subscribe","session_id":"s"}`)
	until(t, next, "subscribed", "thread.status")
	status, nextSSE := w.openSSE(t)
	if status != http.StatusOK {
		t.Fatalf("the stream answers %d", status)
	}
	until(t, nextSSE, "thread.status")

	w.mustRun(t)
	story := []string{
		"item.snapshot", "thread.status", "item.snapshot", "item.delta", "item.delta", "item.completed", "thread.status",
	}
	t.Run("a run is sent over the websocket", func(t *testing.T) { until(t, next, story...) })
	t.Run("and as server-sent events", func(t *testing.T) { until(t, nextSSE, story...) })
	t.Run("a user without access is rejected", func(t *testing.T) {
		send, next, _ := w.dial(t, "bob")
		send(`{"action":"subscribe","session_id":"s"}`)
		if m, err := next(); err != nil || m.Type != "error" || m.Detail != "You do not have permission to access this session" {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("an unsubscribed client gets no more messages", func(t *testing.T) {
		send(`{"action":"unsubscribe","session_id":"s"}`)
		until(t, next, "unsubscribed")
		send(`{"action":"ping"}`)
		if m, err := next(); err != nil || m.Type != "pong" {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("the deletion of the session is sent", func(t *testing.T) {
		if err := w.store.Sessions.Delete(t.Context(), "alice", "s"); err != nil {
			t.Fatal(err)
		}
		until(t, nextSSE, "thread.deleted")
	})
}

// mustRun executes a run with a streamed answer.
func (w *watched) mustRun(t *testing.T) {
	t.Helper()
	ctx, ref := t.Context(), run.Ref{UserID: "alice", SessionID: "s", RunID: "r1"}
	_, err := w.store.Runs.Start(ctx, run.Start{
		Ref: ref, Mode: run.External, OnActive: run.Reject, OnFailed: run.Discard,
		Input: []session.Event{mustParse(t, `{"invocation_id":"x","author":"user","content":{"parts":[{"text":"hi"}]}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	item, err := w.store.Runs.BeginItem(ctx, ref, mustParse(t, `{"invocation_id":"x","author":"agent","content":{"role":"model"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Hello, ", "world"} {
		if _, err := item.Flush(ctx, []content.Delta{{Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	whole := mustParse(t, `{"invocation_id":"x","author":"agent","content":{"role":"model","parts":[{"text":"Hello, world"}]}}`)
	if _, err := item.Complete(ctx, whole); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Runs.End(ctx, ref, run.Completed, nil); err != nil {
		t.Fatal(err)
	}
}

// Closing a connection removes all of its subscriptions.
func TestDisconnecting(t *testing.T) {
	w := newWatched(t)
	if _, err := w.store.Sessions.Create(t.Context(), session.New{ID: "s", UserID: "alice"}); err != nil {
		t.Fatal(err)
	}
	send, next, leave := w.dial(t, "alice")
	send(`{"action":"subscribe","session_id":"s"}`)
	until(t, next, "thread.status")
	_, _, err := w.store.Sessions.Append(t.Context(), session.Append{
		SessionID: "s", UserID: "alice", Events: []session.Event{mustParse(t, `{"invocation_id":"x","author":"user"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	until(t, next, "item.snapshot")
	log, _ := w.log.Load().(string)
	if _, connections, err := w.store.Subscriptions.Watchers(t.Context(), log); err != nil || len(connections) != 1 {
		t.Fatalf("watched by %v, %v", connections, err)
	}
	leave()
	<-w.ended
	if _, connections, err := w.store.Subscriptions.Watchers(t.Context(), log); err != nil || len(connections) != 0 {
		t.Errorf("watched by %v, %v", connections, err)
	}
}
