package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testSearch searches what was said, in sessions long enough for sets of their words.
func testSearch(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	find := func(u *e2e.User, query string) (found []string) {
		t.Helper()
		for _, page := range allPages(t, u, api+"/sessions?in=messages&"+query) {
			for i := range page.List("data") {
				at := fmt.Sprintf("data.%d.", i)
				found = append(found, page.Str(at+"name")+": "+page.Str(at+"match.text"))
			}
		}
		return found
	}
	want := func(what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	var paths []string
	for _, name := range []string{"one", "two"} {
		s := mustCreate(t, alice, e2e.M{"name": name})
		mustAppend(t, alice, s, event("i1", "To Łódź, or to 東京都?"))
		for range 12 {
			mustAppend(t, alice, s, event("i2", mustChatter(2000)))
		}
		mustAppend(t, alice, s, event("i3", "Rather to Köln in "+name))
		paths = append(paths, s)
	}
	for range 2 { // the second time with the words of the first
		want("a word", find(alice, "q=KOLN"), "two: Rather to Köln in two", "one: Rather to Köln in one")
		want("words of a session", find(alice, "q=one+rath"), "one: Rather to Köln in one")
		want("an old one", find(alice, "q=%E4%BA%AC%E9%83%BD&limit=1"), "two: To Łódź, or to 東京都?", "one: To Łódź, or to 東京都?")
		want("words of two messages", find(alice, "q=%E4%BA%AC+koln"))
		want("a word that nobody said", find(alice, "q=lisbon"))
		want("the sessions of others", find(bob, "q=koln"))
	}
	alice.Post(paths[0]+"/rewind", e2e.M{"rewind_before_invocation_id": "i3"}).Want(200)
	want("after a rewind", find(alice, "q=koln"), "two: Rather to Köln in two")
	share := alice.Post(paths[1]+"/shares", e2e.M{"access": "read", "user_id": bob.ID}).Want(201).Str("data.id")
	want("a shared session", find(bob, "q=koln&shared=true"), "two: Rather to Köln in two")
	alice.Post(paths[1]+"/fork", e2e.M{"name": "fork"}).Want(201)
	alice.Delete(paths[1] + "/shares/" + share).Want(204)
	want("a share that was revoked", find(bob, "q=koln&shared=true"))
	alice.Delete(paths[1]).Want(204)
	want("a fork of a deleted session", find(alice, "q=koln+TWO"), "fork: Rather to Köln in two")

	s := mustCreate(t, alice, e2e.M{"name": "answered", "agent": "demo"})
	_, run := mustRun(t, alice, s, "/long 20", nil)
	waitFor(t, func() bool { return alice.Get(s+"/runs/"+run).Want(200).Str("data.status") == "completed" })
	events := alice.Get(s + "/events?order=desc&limit=1").Want(200)
	said, _, _ := strings.Cut(events.Str("data.0.content.parts.0.text"), " ")
	found := alice.Get(api + "/sessions?in=messages&agent=demo&q=" + strings.Trim(said, ".,!")).Want(200)
	if got := found.Str("data.0.match.event_id"); got != events.Str("data.0.id") {
		t.Errorf("a streamed answer that begins with %q: %s", said, found.Body)
	}
	for query, status := range map[string]int{"in=messages": 400, "in=messages&q=%21": 400, "in=names&q=x": 200} {
		alice.Get(api + "/sessions?" + query).Want(status)
	}
	alice.Delete(api+"/me/data").Want(200, 202)
	want("after an erasure", find(alice, "q=koln"))
}

// mustChatter returns a text of about so many characters, of words that repeat.
func mustChatter(length int) string {
	var out strings.Builder
	for out.Len() < length {
		out.WriteString("word" + uuid.NewString()[:rand.IntN(3)] + " ")
	}
	return out.String()
}
