package e2e_test

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
	"github.com/rethread/rethread/shared/domain/watch"
)

// share lets a user read a session and returns the share's path.
func share(t *testing.T, owner *e2e.User, session string, with e2e.M) string {
	t.Helper()
	body := e2e.M{"access": "read"}
	for name, value := range with {
		body[name] = value
	}
	return session + "/shares/" + owner.Post(session+"/shares", body).Want(201).Str("data.id")
}

func isSnapshot(f e2e.Frame) bool { return f.Type == string(watch.Snapshot) }

// nextSnapshot reads the next item of a stream.
func nextSnapshot(t *testing.T, s *e2e.EventStream) {
	t.Helper()
	for {
		f, _, ok := s.Next()
		if !ok {
			t.Fatal("the stream has ended")
		}
		if isSnapshot(f) {
			return
		}
	}
}

// mustEndUnsubscribed reads a stream's last message, and checks that the stream ends.
func mustEndUnsubscribed(t *testing.T, s *e2e.EventStream, reason, status string) {
	t.Helper()
	f, _, _ := s.Next()
	wantUnsubscribed(t, f, reason, status)
	if f, _, ok := s.Next(); ok {
		t.Errorf("a message after the end: %s", f.Text)
	}
}

func testWatchRevoked(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob, carol := sys.User(t, "alice"), sys.User(t, "bob"), sys.User(t, "carol")
	s := mustCreate(t, alice, nil)
	bobs, carols := share(t, alice, s, e2e.M{"user_id": bob.ID}), share(t, alice, s, e2e.M{"user_id": carol.ID})
	own, guest, other := alice.Socket(), bob.Socket(), carol.Socket()
	for _, k := range []*e2e.Socket{own, guest, other} {
		mustSubscribe(t, k, s, nil)
	}
	stream, follower := bob.Watch(s, nil), bob.FollowWithClient(path.Base(s), "a guest's client")
	mustAppend(t, alice, s, event("i1", "before"))
	for _, k := range []*e2e.Socket{own, guest, other} {
		k.Until(isSnapshot)
	}
	nextSnapshot(t, stream)
	follower.Until(t, "what is there before", func(v view.Session) bool { return len(v.Items) == 1 })

	alice.Delete(bobs).Want(204)
	mustAppend(t, alice, s, event("i2", "after"))
	wantUnsubscribed(t, guest.Next(), "revoked", "403")
	mustEndUnsubscribed(t, stream, "revoked", "403")
	own.Until(isSnapshot)
	other.Until(isSnapshot)
	guest.Send(subscribe(s, nil))
	mustRefuse(t, guest, "sub", "403")
	bob.Get(s + "/watch").Want(403)
	mustPing(t, guest)
	if follower.Shows(func(v view.Session) bool { return len(v.Items) > 1 }) {
		t.Error("the guest's client shows later content")
	}

	second := share(t, alice, s, e2e.M{"user_id": carol.ID})
	alice.Delete(carols).Want(204)
	wantUnsubscribed(t, other.Next(), "revoked", "403")
	mustSubscribe(t, other, s, nil)
	mustAppend(t, alice, s, event("i3", "for who has another share"))
	other.Until(isSnapshot)
	other.Send(e2e.M{"action": "unsubscribe", "session_id": path.Base(s), "request_id": "out"})
	if f := other.Answer("out"); f.Type != string(watch.Unsubscribed) {
		t.Errorf("answered: %s", f.Text)
	}
	alice.Delete(second).Want(204)
}

func testWatchLeft(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob, carol := sys.User(t, "alice"), sys.User(t, "bob"), sys.User(t, "carol")
	s := mustCreate(t, alice, nil)
	token := alice.Post(s+"/shares", e2e.M{"access": "read"}).Want(201).Str("data.token")
	var sockets []*e2e.Socket
	for _, user := range []*e2e.User{bob, carol} {
		user.Post(api+"/shares/accept", e2e.M{"token": token}).Want(200)
		k := user.Socket()
		mustSubscribe(t, k, s, nil)
		sockets = append(sockets, k)
	}
	bob.Delete(s + "/access").Want(204)
	mustAppend(t, alice, s, event("i1", "for who is still here"))
	wantUnsubscribed(t, sockets[0].Next(), "revoked", "403")
	sockets[1].Until(isSnapshot)
}

func testWatchExpired(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	s := mustCreate(t, alice, nil)
	share(t, alice, s, e2e.M{"user_id": bob.ID, "expires_in": 3600})
	k, stream := bob.Socket(), bob.Watch(s, nil)
	mustSubscribe(t, k, s, nil)
	mustAppend(t, alice, s, event("i1", "in time"))
	k.Until(isSnapshot)
	nextSnapshot(t, stream)
	sys.Advance(t, time.Hour)
	bob.Get(s).Want(403)
	mustAppend(t, alice, s, event("i2", "too late"))
	wantUnsubscribed(t, k.Next(), "expired", "403")
	mustEndUnsubscribed(t, stream, "expired", "403")
	k.Send(subscribe(s, nil))
	mustRefuse(t, k, "sub", "403")
}

func testWatchAdmin(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	for scope, may := range map[string]bool{"openid rethread:admin": true, "rethread:administrator": false} {
		id := "root-" + path.Base(s)
		token, err := host.TokenWith(t.Context(), sys.URL, id, scope)
		if err != nil {
			t.Fatal(err)
		}
		root := sys.Bearer(t, id, token)
		k := root.Socket()
		if !may {
			k.Send(subscribe(s, nil))
			mustRefuse(t, k, "sub", "403")
			root.Get(s + "/watch").Want(403)
			continue
		}
		mustSubscribe(t, k, s, nil)
		stream := root.Watch(s, nil)
		mustAppend(t, alice, s, event("i1", strings.Repeat("x", 10)))
		k.Until(isSnapshot)
		nextSnapshot(t, stream)
	}
}
