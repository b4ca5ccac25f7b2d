package ws_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws"
)

var errBroken = errors.New("the table is on fire")

// now is the time in all tests, in seconds since 1970.
const now = 1_800_000_000

// fakeDomain is the domain that a handler calls; it records the calls.
type fakeDomain struct {
	t      *testing.T
	handle ws.Handler
	calls  []string
	log    bytes.Buffer

	owner                 string
	grants, later         []access.Grant // of the first lookup and of later ones
	subs                  []watch.Subscription
	subscribe, disconnect error
	since                 func() ([]watch.Message, error)
	push                  error
	frames                []string
}

func newFakeDomain(t *testing.T) *fakeDomain {
	t.Helper()
	w := &fakeDomain{t: t, owner: "alice", since: func() ([]watch.Message, error) { return nil, nil }}
	log, clock := slog.New(slog.NewTextHandler(&w.log, nil)), func() time.Time { return time.Unix(now, 0) }
	w.handle = ws.New(ws.Config{
		Gate:          access.NewGate(w, clock, log),
		Subscriptions: w, Feed: w, Pusher: w, Log: log, Now: clock,
	})
	return w
}

func (w *fakeDomain) note(parts ...string) { w.calls = append(w.calls, strings.Join(parts, " ")) }

func (w *fakeDomain) Subscribe(_ context.Context, s watch.Subscription) error {
	w.note("subscribe", s.Owner, s.SessionID, s.Connection)
	if s.Owner != w.owner {
		return fault.NotYours("session")
	}
	w.subs = append(w.subs, s)
	return w.subscribe
}

func (w *fakeDomain) CallerGrants(_ context.Context, user, session string) (access.CallerGrants, error) {
	w.note("grants", user, session)
	grants := access.CallerGrants{Owner: w.owner, Grants: w.grants}
	w.grants = w.later
	return grants, nil
}

func (w *fakeDomain) Fence(context.Context, string, string) {}

func (w *fakeDomain) IsShared(context.Context, string, string) (bool, error) { return true, nil }

func (w *fakeDomain) SharingOwners(context.Context, string) ([]string, error) { return nil, nil }

func (w *fakeDomain) Unsubscribe(_ context.Context, user, session, connection string) error {
	w.note("unsubscribe", user, session, connection)
	return nil
}

func (w *fakeDomain) Disconnect(_ context.Context, connection string) error {
	w.note("disconnect", connection)
	return w.disconnect
}

func (w *fakeDomain) CatchUp(_ context.Context, user, session string, from watch.From) ([]watch.Message, error) {
	cursor := "-"
	if from.Cursor != nil {
		cursor = from.Cursor.String()
	}
	w.note("since", user, session, cursor, "item:"+from.LastItemID)
	return w.since()
}

func (w *fakeDomain) Push(_ context.Context, _ string, message []byte) error {
	if w.push == nil {
		w.frames = append(w.frames, string(message))
	}
	return w.push
}

func (w *fakeDomain) Close(_ context.Context, connection string) error {
	w.note("close", connection)
	return nil
}

// send passes a message to the handler and returns the frames of the answer.
func (w *fakeDomain) send(body string) []string {
	w.t.Helper()
	return w.sendEvent(func(e *events.APIGatewayWebsocketProxyRequest) { e.Body = body })
}

func (w *fakeDomain) sendEvent(change func(*events.APIGatewayWebsocketProxyRequest)) []string {
	w.t.Helper()
	w.frames = nil
	event := newEvent("MESSAGE")
	change(&event)
	if got := w.mustHandle(event); got.StatusCode != http.StatusOK {
		w.t.Errorf("the gateway is told %d", got.StatusCode)
	}
	return w.frames
}

func (w *fakeDomain) mustHandle(event events.APIGatewayWebsocketProxyRequest) events.APIGatewayProxyResponse {
	w.t.Helper()
	answer, err := w.handle(w.t.Context(), event)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer
}

func (w *fakeDomain) wantCalls(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.calls); diff != "" {
		w.t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func newEvent(kind string) events.APIGatewayWebsocketProxyRequest {
	return events.APIGatewayWebsocketProxyRequest{RequestContext: events.APIGatewayWebsocketProxyRequestContext{
		EventType: kind, RouteKey: "$default", ConnectionID: "c1=", RequestID: "r-gateway",
		Authorizer: map[string]any{"sub": "alice", "exp": strconv.Itoa(now + 60)},
	}}
}

func expire(e *events.APIGatewayWebsocketProxyRequest) {
	e.RequestContext.Authorizer = map[string]any{"sub": "alice", "exp": strconv.Itoa(now)}
}

func wantFrames(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

func TestConnect(t *testing.T) {
	offered := func(values ...string) events.APIGatewayWebsocketProxyRequest {
		event := newEvent("CONNECT")
		event.MultiValueHeaders = map[string][]string{"sec-websocket-protocol": values}
		return event
	}
	accepted := map[string]string{"Sec-WebSocket-Protocol": "rethread.v1"}
	single := newEvent("CONNECT")
	single.Headers = map[string]string{"Sec-WebSocket-Protocol": "rethread.v1"}
	expired, nobody, number := newEvent("CONNECT"), newEvent("CONNECT"), newEvent("CONNECT")
	expire(&expired)
	nobody.RequestContext.Authorizer = nil
	number.RequestContext.Authorizer = map[string]any{"sub": "alice", "exp": float64(now + 9)}
	endless := newEvent("CONNECT")
	endless.RequestContext.Authorizer = map[string]any{"sub": strings.Repeat("x", 257), "exp": strconv.Itoa(now + 60)}
	for name, c := range map[string]struct {
		event   events.APIGatewayWebsocketProxyRequest
		status  int
		headers map[string]string
	}{
		"lets in who has a token":                     {newEvent("CONNECT"), http.StatusOK, nil},
		"reads a time that is a number":               {number, http.StatusOK, nil},
		"accepts the subprotocol":                     {offered("rethread.v1"), http.StatusOK, accepted},
		"accepts the subprotocol beside the token":    {offered("bearer.x.y.z, rethread.v1"), http.StatusOK, accepted},
		"accepts the subprotocol in a header of many": {offered("soap", "rethread.v1"), http.StatusOK, accepted},
		"accepts the subprotocol in a single header":  {single, http.StatusOK, accepted},
		"accepts no other subprotocol":                {offered("rethread.v2"), http.StatusOK, nil},
		"refuses an expired token":                    {expired, http.StatusUnauthorized, nil},
		"refuses a missing identity":                  {nobody, http.StatusUnauthorized, nil},
		"refuses a user id that is too long":          {endless, http.StatusUnauthorized, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeDomain(t)
			got := w.mustHandle(c.event)
			if diff := cmp.Diff(events.APIGatewayProxyResponse{StatusCode: c.status, Headers: c.headers}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			w.wantCalls()
		})
	}
}

func TestDisconnect(t *testing.T) {
	t.Run("deletes the subscriptions, whoever the caller was", func(t *testing.T) {
		w := newFakeDomain(t)
		event := newEvent("DISCONNECT")
		expire(&event)
		if got := w.mustHandle(event); got.StatusCode != http.StatusOK {
			t.Errorf("got %d", got.StatusCode)
		}
		w.wantCalls("disconnect c1=")
	})
	t.Run("returns 500 if that fails", func(t *testing.T) {
		w := newFakeDomain(t)
		w.disconnect = errBroken
		if got := w.mustHandle(newEvent("DISCONNECT")); got.StatusCode != http.StatusInternalServerError {
			t.Errorf("got %d", got.StatusCode)
		}
	})
}

func TestSubscribe(t *testing.T) {
	described := mustContract(t)
	zero := int64(0)
	item := watch.Message{
		Type: watch.Snapshot, Cursor: watch.Cursor{Seq: 2}, Prev: watch.Cursor{Seq: 1}, Offset: &zero,
		Item: &session.Event{
			Seq: 2, ID: "e2", Author: "user", InvocationID: "i", Status: session.EventCompleted, CreatedTime: 1,
			Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"parts":[{"text":"<hi>"}]}`)},
		},
	}
	idle := watch.Message{Type: watch.Status, Cursor: watch.Cursor{Seq: 2}, Prev: watch.Cursor{Seq: 2}, Status: session.Idle}
	t.Run("answers with the messages that the client lacks, in order", func(t *testing.T) {
		w := newFakeDomain(t)
		w.since = func() ([]watch.Message, error) { return []watch.Message{item, idle}, nil }
		got := w.send(`{"action":"subscribe","session_id":"s1","cursor":"0.1.0","request_id":"r/1"}`)
		wantFrames(
			t, got,
			`{"type":"subscribed","request_id":"r/1","session_id":"s1"}`,
			`{"type":"item.snapshot","session_id":"s1","cursor":"0.2.0","prev":"0.1.0","subscription":"r/1","item":{"id":"e2","seq":2,`+
				`"session_id":"s1","status":"completed","created_time":1,"invocation_id":"i","author":"user",`+
				`"actions":{},"content":{"parts":[{"text":"<hi>"}]}},"offset":0}`,
			`{"type":"thread.status","session_id":"s1","cursor":"0.2.0","prev":"0.2.0","subscription":"r/1","status":"idle"}`,
		)
		w.wantCalls("subscribe alice s1 c1=", "since alice s1 0.1.0 item:")
		wantContract(t, described, got)
	})
	t.Run("begins with an item, or with the current status", func(t *testing.T) {
		w := newFakeDomain(t)
		wantFrames(t, w.send(` {"action":"subscribe","session_id":"s1","last_item_id":"e7"}`),
			`{"type":"subscribed","request_id":"r-gateway","session_id":"s1"}`)
		w.send(`{"action":"subscribe","session_id":"s2"}`)
		w.wantCalls("subscribe alice s1 c1=", "since alice s1 - item:e7", "subscribe alice s2 c1=", "since alice s2 - item:")
	})
	t.Run("sends a reload for an item too large for a frame", func(t *testing.T) {
		w := newFakeDomain(t)
		large := item
		text, err := json.Marshal(strings.Repeat("x", watch.MaxMessage))
		if err != nil {
			t.Fatal(err)
		}
		large.Item = &session.Event{Fields: map[string]json.RawMessage{"text": text}}
		w.since = func() ([]watch.Message, error) { return []watch.Message{large, idle}, nil }
		got := w.send(`{"action":"subscribe","session_id":"s1"}`)
		if want := `{"type":"thread.reload","session_id":"s1","cursor":"0.2.0","prev":"0.1.0","subscription":"r-gateway","reason":"item_too_large"}`; got[1] != want {
			t.Errorf("got %.200s", got[1])
		}
		if len(got) != 3 {
			t.Errorf("%d frames", len(got))
		}
	})
	t.Run("returns the reason to a caller without permission, and reads nothing", func(t *testing.T) {
		for _, c := range []struct {
			err  error
			want string
		}{
			{fault.Missing("session"), `"status":404,"code":"session_not_found","title":"Not Found","detail":"session not found"`},
			{fault.NotYours("session"), `"status":403,"code":"forbidden","title":"Forbidden","detail":"You do not have permission to access this session"`},
			{fault.New(fault.Busy, "enough"), `"status":429,"code":"rate_limited","title":"Too Many Requests","detail":"enough","retry_after":1`},
		} {
			w := newFakeDomain(t)
			w.subscribe = c.err
			got := w.send(`{"action":"subscribe","session_id":"s1","request_id":"r"}`)
			wantFrames(t, got, `{"type":"error","request_id":"r","session_id":"s1",`+c.want+`}`)
			calls := []string{"subscribe alice s1 c1="}
			if errors.Is(c.err, fault.Of(fault.Forbidden)) {
				calls = append(calls, "grants alice s1")
			}
			w.wantCalls(calls...)
			wantContract(t, described, got)
		}
	})
	t.Run("returns a failure without details and deletes the subscription", func(t *testing.T) {
		w := newFakeDomain(t)
		w.since = func() ([]watch.Message, error) { return nil, errBroken }
		wantFrames(t, w.send(`{"action":"subscribe","session_id":"s1","request_id":"r"}`),
			`{"type":"error","request_id":"r","session_id":"s1","status":500,"code":"internal_error","title":"Internal Server Error","detail":"Internal error."}`)
		w.wantCalls("subscribe alice s1 c1=", "since alice s1 - item:", "unsubscribe alice s1 c1=")
		if !strings.Contains(w.log.String(), errBroken.Error()) {
			t.Errorf("the log: %s", w.log.String())
		}
	})
	t.Run("answers a panic as an internal error", func(t *testing.T) {
		w := newFakeDomain(t)
		w.since = func() ([]watch.Message, error) { panic("oops") }
		got := w.send(`{"action":"subscribe","session_id":"s1","request_id":"r"}`)
		if len(got) != 1 || !strings.Contains(got[0], `"status":500`) || strings.Contains(got[0], "oops") {
			t.Errorf("got %v", got)
		}
	})
	t.Run("deletes the subscriptions of a connection that has closed", func(t *testing.T) {
		w := newFakeDomain(t)
		w.push = watch.ErrGone
		w.send(`{"action":"subscribe","session_id":"s1"}`)
		w.wantCalls("subscribe alice s1 c1=", "since alice s1 - item:", "disconnect c1=")
	})
	t.Run("closes a connection that does not read", func(t *testing.T) {
		w := newFakeDomain(t)
		w.push = errBroken
		w.send(`{"action":"subscribe","session_id":"s1"}`)
		w.wantCalls("subscribe alice s1 c1=", "since alice s1 - item:", "close c1=")
	})
}

func TestOtherActions(t *testing.T) {
	described := mustContract(t)
	t.Run("unsubscribe", func(t *testing.T) {
		w := newFakeDomain(t)
		got := w.send(`{"action":"unsubscribe","session_id":"s1","request_id":"r"}`)
		wantFrames(t, got, `{"type":"unsubscribed","request_id":"r","session_id":"s1"}`)
		w.wantCalls("unsubscribe alice s1 c1=")
		wantContract(t, described, got)
	})
	t.Run("ping", func(t *testing.T) {
		w := newFakeDomain(t)
		got := w.send(`{"action":"ping","request_id":"r"}`)
		wantFrames(t, got, `{"type":"pong","request_id":"r"}`)
		w.wantCalls()
		wantContract(t, described, got)
	})
	t.Run("refuses every action with an expired token and closes the connection", func(t *testing.T) {
		w := newFakeDomain(t)
		got := w.sendEvent(func(e *events.APIGatewayWebsocketProxyRequest) {
			expire(e)
			e.Body = `{"action":"subscribe","session_id":"s1","request_id":"r"}`
		})
		if len(got) != 1 || !strings.HasPrefix(got[0], `{"type":"error","request_id":"r","session_id":"s1","status":401,`) {
			t.Errorf("got %v", got)
		}
		w.wantCalls("close c1=")
	})
}
