package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
	"github.com/rethread/rethread/shared/domain/watch"
)

func testWatching(t *testing.T, sys *e2e.System) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *e2e.System){
		"requires a valid token":                                 testWatchTokens,
		"refuses other users":                                    testWatchOthers,
		"accepts a token where browsers can send it":             testWatchBrowser,
		"a guest gets no messages after the share is revoked":    testWatchRevoked,
		"leaving ends only the messages of the guest":            testWatchLeft,
		"an admin can watch any session":                         testWatchAdmin,
		"an invalid action affects no one else":                  testBadActions,
		"a message over the limit ends its connection":           testLargeFrame,
		"a connection watches a hundred sessions":                testFlood,
		"watching begins at the requested position":              testPositions,
		"a stream continues where the last one ended":            testLastEventID,
		"gets no messages after unsubscribe":                     testUnsubscribe,
		"a watcher that is too far behind gets a reload":         testTooFarBehind,
		"a client with the rules of the page shows a large item": testPage,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, sys)
		})
	}
}

func subscribe(session string, more e2e.M) e2e.M {
	action := e2e.M{"action": "subscribe", "session_id": path.Base(session), "request_id": "sub"}
	for name, value := range more {
		action[name] = value
	}
	return action
}

// mustSubscribe subscribes and returns the answers, the last of which is the
// session's status.
func mustSubscribe(t *testing.T, k *e2e.Socket, session string, more e2e.M) []e2e.Frame {
	t.Helper()
	k.Send(subscribe(session, more))
	if f := k.Answer("sub"); f.Type != "subscribed" || f.SessionID != path.Base(session) {
		t.Fatalf("subscribed: %s", f.Text)
	}
	var frames []e2e.Frame
	k.Until(func(f e2e.Frame) bool {
		frames = append(frames, f)
		return f.Type == string(watch.Status) || f.Type == string(watch.Reload)
	})
	return frames
}

// mustPing checks that the connection is open.
func mustPing(t *testing.T, k *e2e.Socket) {
	t.Helper()
	id := uuid.NewString()
	k.Send(e2e.M{"action": "ping", "request_id": id})
	if f := k.Answer(id); f.Type != "pong" {
		t.Fatalf("pinged: %s", f.Text)
	}
}

// mustRefuse requires an error as the answer to an action.
func mustRefuse(t *testing.T, k *e2e.Socket, requestID, status string) {
	t.Helper()
	f := k.Answer(requestID)
	if f.Type != "error" || f.Str(t, "status") != status || f.Str(t, "detail") == "" {
		t.Errorf("refused: %s, want %s", f.Text, status)
	}
}

func testWatchTokens(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	expired, err := host.TokenFor(t.Context(), sys.URL, alice.ID, -time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"no token": "", "no JWT": "nonsense", "expired": expired, "forged": alice.Token[:len(alice.Token)-8] + "AAAAAAAA",
	} {
		t.Run(name, func(t *testing.T) {
			query := url.Values{}
			if token != "" {
				query.Set("token", token)
			}
			if socket, status := sys.Dial(t, query, nil); socket != nil || status != 401 {
				t.Errorf("the handshake is answered %d", status)
			}
			got := sys.Bearer(t, "nobody", token).Get(s+"/watch", e2e.Bad).Want(401)
			if strings.Contains(string(got.Body), path.Base(s)) {
				t.Errorf("got %s", got.Body)
			}
		})
	}
}

func testWatchOthers(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	s := mustCreate(t, alice, nil)
	k := bob.Socket()
	for session, status := range map[string]string{s: "403", sessionPath(uuid.NewString()): "404"} {
		for _, action := range []string{"subscribe", "unsubscribe"} {
			k.Send(e2e.M{"action": action, "session_id": path.Base(session), "request_id": action + status})
			mustRefuse(t, k, action+status, status)
		}
	}
	bob.Get(s + "/watch").Want(403)
	bob.Get(sessionPath(uuid.NewString()) + "/watch").Want(404)
	bob.Get(s+"/watch?cursor=nonsense", e2e.Bad).Want(400)
	mustAppend(t, alice, s, event("i1", "secret"))
	mine := mustCreate(t, bob, nil)
	mustSubscribe(t, k, mine, nil)
	mustAppend(t, bob, mine, event("i1", "mine"))
	k.Until(func(f e2e.Frame) bool {
		if strings.Contains(string(f.Text), "secret") {
			t.Errorf("bob got %s", f.Text)
		}
		return f.Type == string(watch.Snapshot)
	})
}

func testWatchBrowser(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	k, status := sys.Dial(t, nil, http.Header{"Origin": {"https://app.example"}}, "rethread.v1", "bearer."+alice.Token)
	if k == nil || k.Subprotocol != "rethread.v1" {
		t.Fatalf("the handshake is answered %d: %+v", status, k)
	}
	mustSubscribe(t, k, s, nil)
	byHeader, status := sys.Dial(t, nil, http.Header{"Authorization": {"Bearer " + alice.Token}})
	if byHeader == nil || byHeader.Subprotocol != "" {
		t.Fatalf("the handshake is answered %d: %+v", status, byHeader)
	}
	mustSubscribe(t, byHeader, s, nil)
	stream := sys.Bearer(t, alice.ID, "").Watch(s, url.Values{"token": {alice.Token}})
	if f, id, ok := stream.Next(); !ok || f.Type != string(watch.Status) || id != f.Cursor {
		t.Errorf("the stream begins with %q %s", id, f.Text)
	}
	if stream.Header.Get("Access-Control-Allow-Origin") == "" || stream.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the stream's headers: %v", stream.Header)
	}
}

func testWatchExpiry(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	token, err := host.TokenFor(t.Context(), sys.URL, alice.ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	brief, query := sys.Bearer(t, alice.ID, token), url.Values{"token": {token}}
	k, _ := sys.Dial(t, query, nil)
	asks, _ := sys.Dial(t, query, nil)
	mustSubscribe(t, k, s, nil)
	stream := brief.Watch(s, nil)
	if f, _, _ := stream.Next(); f.Type != string(watch.Status) {
		t.Errorf("the stream begins with %s", f.Text)
	}
	sys.Advance(t, time.Hour)
	asks.Send(e2e.M{"action": "ping", "request_id": "late"})
	mustRefuse(t, asks, "late", "401")
	asks.Closed()
	mustAppend(t, alice, s, event("i1", "after"))
	wantUnsubscribed(t, k.Next(), "token_expired", "401")
	k.Closed()
	mustEndUnsubscribed(t, stream, "token_expired", "401")
	brief.Get(s+"/watch", e2e.Bad).Want(401)
}

// wantUnsubscribed checks the last message about a session that the user may no longer
// watch.
func wantUnsubscribed(t *testing.T, f e2e.Frame, reason, status string) {
	t.Helper()
	if f.Type != string(watch.Unsubscribed) || f.Str(t, "reason") != reason || f.Str(t, "status") != status {
		t.Errorf("the last message: %s", f.Text)
	}
}

func testBadActions(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	k := alice.Socket()
	for body, status := range map[string]string{
		`{`:                           "400",
		`[]`:                          "400",
		`"ping"`:                      "400",
		`{"action":"dance"}`:          "422",
		`{"action":"constructor"}`:    "422",
		`{}`:                          "400",
		`{"action":7}`:                "400",
		`{"action":null}`:             "400",
		`{"action":"subscribe"}`:      "400",
		`{"action":"ping","Extra":1}`: "422",
		`{"action":"subscribe","session_id":"a/b"}`:                                   "422",
		`{"action":"subscribe","session_id":"s","cursor":"0.1"}`:                      "400",
		`{"action":"subscribe","session_id":"s","cursor":"0.1.0","last_item_id":"x"}`: "422",
		`{"action":"ping","request_id":""}`:                                           "422",
	} {
		k.SendRaw(websocket.MessageText, []byte(body))
		f := k.Until(func(f e2e.Frame) bool { return f.Type == "error" })
		if f.Str(t, "status") != status {
			t.Errorf("%s is answered %s, want %s", body, f.Text, status)
		}
	}
	k.SendRaw(websocket.MessageBinary, []byte(`{"action":"ping"}`))
	if f := k.Until(func(f e2e.Frame) bool { return f.Type == "error" }); f.Str(t, "status") != "400" {
		t.Errorf("binary: %s", f.Text)
	}
	mustPing(t, k)
}

func testLargeFrame(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	k, other := alice.Socket(), alice.Socket()
	mustSubscribe(t, other, s, nil)
	k.SendRaw(websocket.MessageText, []byte(`{"action":"ping","request_id":"`+strings.Repeat("x", 33<<10)+`"}`))
	if code := k.Closed(); code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %d", code)
	}
	mustPing(t, other)
	mustAppend(t, alice, s, event("i1", "still there"))
	other.Until(func(f e2e.Frame) bool { return f.Type == string(watch.Snapshot) })
}

func testFlood(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	sessions := make([]string, watch.MaxSessions+1)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range sessions {
		group.Go(func() error {
			id := uuid.NewString()
			sessions[i] = sessionPath(id)
			answer, err := alice.Try(ctx, "POST", api+"/sessions", e2e.M{"id": id}, e2e.Off)
			if err == nil && answer.Status != 201 {
				err = fmt.Errorf("create: %d %s", answer.Status, answer.Body)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	k := alice.Socket()
	refused := 0
	for i, s := range sessions {
		k.Send(subscribe(s, e2e.M{"request_id": fmt.Sprint("r", i)}))
	}
	for range sessions {
		f := k.Until(func(f e2e.Frame) bool { return f.RequestID != "" })
		if f.Type == "error" && f.Str(t, "status") == "429" {
			refused++
		} else if f.Type != "subscribed" {
			t.Errorf("answered: %s", f.Text)
		}
	}
	if refused != 1 {
		t.Errorf("%d of %d subscriptions were refused", refused, len(sessions))
	}
	mustPing(t, k)
}
