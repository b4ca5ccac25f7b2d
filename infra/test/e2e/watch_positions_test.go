package e2e_test

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/domain/watch"
)

func testPositions(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	for _, text := range []string{"a", "b", "c"} {
		e := event("i-"+text, text)
		e["id"] = path.Base(s) + text
		mustAppend(t, alice, s, e)
	}
	k := alice.Socket()
	for name, tc := range map[string]struct {
		from   e2e.M
		want   string
		reason string
	}{
		"no position":     {nil, "c", ""},
		"an item":         {e2e.M{"last_item_id": path.Base(s) + "b"}, "b c", ""},
		"a cursor":        {e2e.M{"cursor": "0.1.0"}, "b c", ""},
		"the beginning":   {e2e.M{"cursor": "0.0.0"}, "a b c", ""},
		"the end":         {e2e.M{"cursor": "0.3.0"}, "", ""},
		"an unknown item": {e2e.M{"last_item_id": "never"}, "", watch.ReasonGone},
		"another epoch":   {e2e.M{"cursor": "1.1.0"}, "", watch.ReasonEpoch},
		"after the end":   {e2e.M{"cursor": "0.9.0"}, "", watch.ReasonEpoch},
	} {
		t.Run(name, func(t *testing.T) {
			frames := mustSubscribe(t, k, s, tc.from)
			var got []string
			for _, f := range frames[:len(frames)-1] {
				got = append(got, f.Str(t, "item.content.parts.0.text"))
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("the stream began with %q, want %q", got, tc.want)
			}
			last := frames[len(frames)-1]
			if tc.reason == "" && last.Str(t, "status") != "idle" || tc.reason != "" && last.Str(t, "reason") != tc.reason {
				t.Errorf("the stream ended with %s", last.Text)
			}
		})
	}
	alice.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": "i-c"}).Want(200)
	stream := alice.Watch(s, url.Values{"last_activity_id": {path.Base(s) + "c"}})
	if f, _, ok := stream.Next(); !ok || f.Str(t, "reason") != watch.ReasonGone {
		t.Errorf("of a rewound item: %s", f.Text)
	}
}

func testLastEventID(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	stream := alice.Watch(s, nil)
	stream.Next()
	mustAppend(t, alice, s, event("i1", "one"))
	_, id, _ := stream.Next()
	stream.Close()
	mustAppend(t, alice, s, event("i2", "two"))
	again := alice.Watch(s, url.Values{"cursor": {"0.0.0"}}, e2e.Header("Last-Event-ID", id))
	if f, _, ok := again.Next(); !ok || f.Str(t, "item.content.parts.0.text") != "two" {
		t.Errorf("from %s it continues with %s", id, f.Text)
	}
}

func testUnsubscribe(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	left, stayed := mustCreate(t, alice, nil), mustCreate(t, alice, nil)
	k := alice.Socket()
	mustSubscribe(t, k, left, nil)
	mustSubscribe(t, k, stayed, nil)
	k.Send(e2e.M{"action": "unsubscribe", "session_id": path.Base(left), "request_id": "out"})
	if f := k.Answer("out"); f.Type != "unsubscribed" {
		t.Fatalf("answered: %s", f.Text)
	}
	mustAppend(t, alice, left, event("i1", "unheard"))
	mustAppend(t, alice, stayed, event("i1", "heard"))
	if f := k.Next(); f.SessionID != path.Base(stayed) {
		t.Errorf("got %s", f.Text)
	}
}

func testTooFarBehind(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	events := make([]e2e.M, 100)
	for i := range events {
		events[i] = event("i1", fmt.Sprint(i))
	}
	mustAppend(t, alice, s, events...)
	k := alice.Socket()
	if frames := mustSubscribe(t, k, s, e2e.M{"cursor": "0.0.0"}); len(frames) != 101 {
		t.Errorf("%d messages", len(frames))
	}
	mustAppend(t, alice, s, event("i2", "one too many"))
	other := alice.Socket()
	frames := mustSubscribe(t, other, s, e2e.M{"cursor": "0.0.0"})
	if f := frames[0]; f.Type != string(watch.Reload) || f.Str(t, "reason") != watch.ReasonBehind {
		t.Errorf("got %s", f.Text)
	}
	mustAgree(t, alice, s, mustFollow(t, alice, s, "watcher"))
}
