package stores_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/search"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// prose returns a text of about so many characters, always the same for a seed, whose
// words are as frequent as those of a language.
func prose(seed uint64, length int) string {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	frequent := rand.NewZipf(random, 1.1, 4, 20_000)
	var out strings.Builder
	for out.Len() < length {
		n := frequent.Uint64()
		for _, syllable := range fmt.Sprintf("%b", n+2) {
			out.WriteString([]string{"ra", "ten"}[syllable-'0'])
		}
		out.WriteByte(" ,."[n%3])
		out.WriteByte(' ')
	}
	return out.String()
}

// mustTalk appends turns of a question and an answer.
func mustTalk(t testing.TB, s *stores.Store, id string, turns int) {
	t.Helper()
	for n := range turns {
		invocation := fmt.Sprintf("%s-%d", id, n)
		mustAppend(t, s, alice, id, event(t, "", invocation, prose(uint64(n), 300)), event(t, "", invocation, prose(uint64(n+1000), 2000)))
	}
}

// searched returns what all pages of a search find: sessions, and the seqs of their
// matches.
func searched(t testing.TB, s *stores.Store, q session.ListQuery) []string {
	t.Helper()
	if q.UserID == "" {
		q.UserID = alice
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	found := []string{}
	for range 1000 {
		page, err := s.Sessions.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("search for %q: %v", q.Text, err)
		}
		for _, one := range page.Sessions {
			found = append(found, fmt.Sprintf("%s:%d", one.ID, one.Match.Seq))
		}
		if q.After = page.Next; q.After == "" {
			return found
		}
	}
	t.Fatalf("a search for %q does not end", q.Text)
	return nil
}

func wantFound(t testing.TB, s *stores.Store, text string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), searched(t, s, session.ListQuery{Text: text})); diff != "" {
		t.Errorf("search for %q (-want +got):\n%s", text, diff)
	}
}

// wordSets lists the keys of the stored sets of words.
func wordSets(t *testing.T, engine table.Engine) (out []string) {
	t.Helper()
	for _, k := range keysIn(t, engine) {
		if strings.Contains(k, "WS#") {
			out = append(out, k)
		}
	}
	return out
}

func TestSearch(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine, stores.WithClock(clock()))
	for _, id := range []string{"a", "b"} {
		mustCreate(t, s, alice, id, nil)
		mustAppend(t, s, alice, id, event(t, "q-"+id, "i-"+id, "A trip to Lisbon, in spring"))
	}
	mustCreate(t, s, bob, "his", nil)
	mustAppend(t, s, bob, "his", event(t, "", "i", "Lisbon"))
	wantFound(t, s, "LISB trip", "b:1", "a:1")
	wantFound(t, s, "isbon")
	mustAppend(t, s, alice, "a", event(t, "", "i2", "Lisbon"), event(t, "", "i2", "Porto"))
	wantFound(t, s, "lisbon", "a:2", "b:1")
	wantFound(t, s, "lisbon porto")
	if _, err := s.History.Rewind(t.Context(), session.Rewind{UserID: alice, SessionID: "a", Before: "i2", Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, "porto")
	wantFound(t, s, "lisbon", "a:1", "b:1")
	fixture.Fork(t, s, "a", "fork", nil)
	wantFound(t, s, "lisbon", "fork:1", "a:1", "b:1")

	page, err := s.Sessions.Search(t.Context(), session.ListQuery{UserID: alice, Text: "Lisbon", Limit: 10, Agent: "x"})
	if err != nil || len(page.Sessions) > 0 || page.Next != "" {
		t.Errorf("sessions of another agent: %+v, %v", page, err)
	}
	page, err = s.Sessions.Search(t.Context(), session.ListQuery{UserID: bob, Text: "Lisbon", Limit: 10})
	if err != nil || len(page.Sessions) != 1 || page.Sessions[0].ID != "his" {
		t.Fatalf("bob finds %+v, %v", page, err)
	}
	match := *page.Sessions[0].Match
	if match.EventID == "" || match.InvocationID != "i" || match.Text != "Lisbon" || match.Author == "" || match.Seq != 1 {
		t.Errorf("the match is %+v", match)
	}
	for _, text := range []string{"", "!?"} {
		_, err := s.Sessions.Search(t.Context(), session.ListQuery{UserID: alice, Text: text, Limit: 10})
		fixture.WantKind(t, err, fault.Malformed)
	}
	_, err = s.Sessions.Search(t.Context(), session.ListQuery{UserID: alice, Text: "x", Limit: 10, After: "forged"})
	fixture.WantKind(t, err, fault.Malformed)
	if sets := wordSets(t, engine); len(sets) > 0 {
		t.Errorf("sets of short sessions: %v", sets)
	}
}

// TestSearch_cost bounds what a search of sessions with ten turns costs: the first time,
// again, and after another turn. Sessions that nobody searches have no sets.
func TestSearch_cost(t *testing.T) {
	t.Parallel()
	meter, engine := &capacity.Meter{}, storetest.Engine(t)
	s := stores.New(meter.Around(engine))
	const most = 20
	for n := range most {
		id := fmt.Sprintf("s%02d", n)
		mustCreate(t, s, alice, id, nil)
		mustTalk(t, s, id, 10)
	}
	if sets := wordSets(t, engine); len(sets) > 0 {
		t.Fatalf("sets that nobody needs: %v", sets)
	}
	measure := func(what string, want int, reads, writes float64) {
		t.Helper()
		before := meter.Total()
		if found := searched(t, s, session.ListQuery{Text: "lisbon"}); len(found) != want {
			t.Errorf("%s: found %v", what, found)
		}
		got := meter.Total().Sub(before)
		t.Logf("%s: %.2f R, %.2f W a session", what, got.Reads/most, got.Writes/most)
		if got.Reads > reads*most || got.Writes > writes*most {
			t.Errorf("%s: %.2f R, %.2f W a session, at most %.2f and %.2f", what, got.Reads/most, got.Writes/most, reads, writes)
		}
	}
	measure("first", 0, 4, 5)
	measure("again", 0, 2.1, 0)
	for n := range most {
		mustAppend(t, s, alice, fmt.Sprintf("s%02d", n), event(t, "", "later", prose(7, 300)), event(t, "", "later", prose(8, 2000)))
	}
	measure("after another turn", 0, 2.7, 0)
	for n := range most {
		id := fmt.Sprintf("s%02d", n)
		fixture.Fork(t, s, id, "fork-"+id, nil)
	}
	if sets := wordSets(t, engine); len(sets) != most {
		t.Errorf("%d sets, want one for each session and none for a fork", len(sets))
	}
}

// TestSearch_long searches a session that one request cannot read: each request goes
// on where the one before has ended, although nothing can be stored.
func TestSearch_long(t *testing.T) {
	t.Parallel()
	plain := storetest.Engine(t)
	var failing bool
	var tried int
	engine := storetest.Before(plain, func(_ context.Context, c hooks.Call) error {
		if c.Writing() && failing { // reads may be concurrent
			tried++
			return errors.New("no write in a test")
		}
		return nil
	})
	s := stores.New(engine, stores.WithSearch(search.Rules{Bytes: 1, Time: 1, LeastRange: 8 << 10, WholeRange: 40 << 10}))
	mustCreate(t, s, alice, "long", nil)
	mustAppend(t, s, alice, "long", event(t, "", "i", "Lisbon"))
	for n := range 30 {
		mustAppend(t, s, alice, "long", event(t, "", "i", prose(uint64(n), 6000)))
	}
	failing = true
	wantFound(t, s, "lisbon", "long:1")
	wantFound(t, s, "porto")
	if tried == 0 {
		t.Error("no set of words was written")
	}
	failing = false
	wantFound(t, s, "porto")
	sets := wordSets(t, plain)
	if len(sets) < 3 {
		t.Errorf("the sets are %v", sets)
	}
	wantFound(t, s, "porto")
	wantFound(t, s, "lisbon", "long:1")
	if diff := cmp.Diff(sets, wordSets(t, plain)); diff != "" {
		t.Errorf("sets of an unchanged session (-before +after):\n%s", diff)
	}
}

// TestSearch_grown lets a session grow while it is searched: its set grows with it, and
// several searches at once agree.
func TestSearch_grown(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	mustCreate(t, s, alice, "s", nil)
	for n := range 6 {
		mustTalk(t, s, "s", 8)
		mustAppend(t, s, alice, "s", event(t, "", "i", fmt.Sprintf("city%d", n)))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if found := searched(t, s, session.ListQuery{Text: fmt.Sprintf("city%d", n)}); len(found) != 1 {
					t.Errorf("found %v", found)
				}
				if found := searched(t, s, session.ListQuery{Text: "porto"}); len(found) > 0 {
					t.Errorf("found %v", found)
				}
			})
		}
		all.Wait()
		for earlier := range n {
			wantFound(t, s, fmt.Sprintf("city%d", earlier), fmt.Sprintf("s:%d", (earlier+1)*17))
		}
	}
	if sets := wordSets(t, engine); len(sets) == 0 || len(sets) > 3 {
		t.Errorf("%d sets of a session of 110 KB", len(sets))
	}
}

// TestSearch_deleted deletes sessions that were searched: nothing is left of them once no
// fork reads their logs.
func TestSearch_deleted(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	mustCreate(t, s, alice, "source", nil)
	mustTalk(t, s, "source", 10)
	mustAppend(t, s, alice, "source", event(t, "", "i", "Lisbon"))
	fixture.Fork(t, s, "source", "fork", nil)
	wantFound(t, s, "porto")
	if err := s.Sessions.Delete(t.Context(), alice, "source"); err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, "lisbon", "fork:21")
	if len(wordSets(t, engine)) == 0 {
		t.Error("the fork has lost the words of what it took over")
	}
	if _, err := s.Lifecycle.Erase(t.Context(), alice); err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, "lisbon")
	sweptEmpty(t, engine)
}

// TestSearch_unreadable searches what cannot be decoded: a set is replaced, an event
// hides only itself, and a session only itself.
func TestSearch_unreadable(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	for _, id := range []string{"a", "b"} {
		mustCreate(t, s, alice, id, nil)
		mustTalk(t, s, id, 10)
		mustAppend(t, s, alice, id, event(t, "", "i", "Lisbon"))
	}
	wantFound(t, s, "porto")
	sets := wordSets(t, engine)
	if len(sets) != 2 {
		t.Fatalf("sets: %v", sets)
	}
	for i, k := range sets {
		pk, sk, _ := strings.Cut(k, " ")
		member, value := "w", any([]byte{3, 1, 2})
		if i == 1 {
			member, value = "t", "not a number"
		}
		storetest.Spoil(t, engine, table.NewKey(pk, sk), table.Set(table.Path{member}, value))
	}
	wantFound(t, s, "lisbon", "b:21", "a:21")
	wantFound(t, s, "porto")
	wantFound(t, s, "porto")
	log := fixture.Log(t, s, "a")
	storetest.Spoil(t, engine, table.NewKey("L#"+log, "E#0000000021"), table.Set(table.Path{"b"}, []byte{9}))
	wantFound(t, s, "lisbon", "b:21")
	storetest.Spoil(t, engine, table.NewKey("S#a", "HEAD"), table.Set(table.Path{"tl"}, []byte{9}))
	wantFound(t, s, "lisbon", "b:21")
}
