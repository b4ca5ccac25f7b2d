package modeltest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/search"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// TestSearchAgreesWithModel searches after random operations, with sets of words of all
// sizes and requests that end anywhere. A search must find what reading all effective
// events finds.
func TestSearchAgreesWithModel(t *testing.T) {
	t.Parallel()
	finder := &finder{}
	property.CheckN(t, sequences().least(), func(rt *rapid.T) {
		m := newMachine(rt, storetest.Engine(t))
		finder.of(rt, m)
		search := func(rt *rapid.T) { finder.compare(rt, m) }
		rt.Repeat(map[string]func(*rapid.T){
			"": search, "create": m.createSession, "append": m.appendEvents, "append more": m.appendEvents,
			"append on": m.appendEvents, "rewind": m.rewind, "rewind more": m.rewind, "fork": m.fork,
			"save task": m.saveTask, "delete": m.deleteSession, "stream": m.stream, "stream more": m.stream, "end": m.end,
		})
		finder.count(rt, m)
		m.clear(rt)
	})
	t.Logf("%d searches found %d sessions, in %d pages, with %d sets of words", finder.searches, finder.found, finder.pages, finder.sets)
	number{all: 100, few: 1}.tell(t, finder.found, "sessions found")
	if finder.sets == 0 && !t.Failed() {
		t.Error("no set of words was stored")
	}
}

// finder compares searches and counts them.
type finder struct {
	store                        *stores.Store
	searches, found, pages, sets int
}

// of begins a sequence, with other bounds, and perhaps with replicas that lag.
func (f *finder) of(rt *rapid.T, m *machine) {
	engine := m.engine
	if rapid.Bool().Draw(rt, "replicas lag") {
		engine = storetest.Lagging(engine, rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "lag"), 0))) //nolint:gosec // a test
	}
	f.store = stores.New(engine, stores.WithCodec(storetest.Codec()), stores.WithSearch(search.Rules{
		Bytes:      rapid.SampledFrom([]int64{1, 3000, 9000, 4 << 20}).Draw(rt, "bytes of a search"),
		Time:       time.Minute,
		LeastRange: rapid.SampledFrom([]int64{1, 400, 1500}).Draw(rt, "bytes of a range"),
		WholeRange: rapid.SampledFrom([]int64{1, 1200, 5000}).Draw(rt, "bytes of a whole range"),
	}))
}

// compare searches for a word of a message, or a beginning of it.
func (f *finder) compare(rt *rapid.T, m *machine) {
	f.searches++
	user := rapid.SampledFrom([]string{"alice", "alice", "bob"}).Draw(rt, "who searches")
	query := rapid.SampledFrom([]string{"TEXT", "none", "1", "2", "3", "text 1", "9 text"}).Draw(rt, "what")
	q := session.ListQuery{UserID: user, Limit: rapid.SampledFrom([]int{1, 2, 100}).Draw(rt, "limit"), Text: query}
	var got []session.Match
	order := f.search(rt, q, func(s session.Session) { got = append(got, *s.Match) })
	want, all := f.model(rt, user, query)
	if diff := cmp.Diff(want, got); diff != "" {
		rt.Fatalf("after %s: search of %s for %q in %v (-want +got):\n%s", m.done, user, query, order, diff)
	}
	if diff := cmp.Diff(all, order); diff != "" {
		rt.Fatalf("after %s: order of the search of %s for %q (-want +got):\n%s", m.done, user, query, diff)
	}
	f.found += len(got)
}

// count counts the sets of words at the end of a sequence.
func (f *finder) count(rt *rapid.T, m *machine) {
	for _, item := range storetest.Items(rt, m.engine) {
		if strings.HasPrefix(table.Text(item, "SK"), "WS#") {
			f.sets++
		}
	}
}

// search reads all pages.
func (f *finder) search(rt *rapid.T, q session.ListQuery, each func(session.Session)) (ids []string) {
	for n := 0; ; n++ {
		page, err := f.store.Sessions.Search(rt.Context(), q)
		if err != nil || len(page.Sessions) > q.Limit || n > 1000 {
			rt.Fatalf("search for %q, page %d of %d sessions: %v", q.Text, n, len(page.Sessions), err)
		}
		f.pages++
		for _, s := range page.Sessions {
			ids = append(ids, s.ID)
			each(s)
		}
		if q.After = page.Next; q.After == "" {
			return ids
		}
	}
}

// model reads all effective events of the user's sessions.
func (f *finder) model(rt *rapid.T, user, query string) (matches []session.Match, ids []string) {
	page, err := f.store.Sessions.List(rt.Context(), session.ListQuery{UserID: user, Limit: session.MaxPage})
	if err != nil {
		rt.Fatal(err)
	}
	for _, s := range page.Sessions {
		events, err := f.store.Sessions.Events(rt.Context(), user, s.ID, session.EventQuery{
			View: session.Effective, Descending: true, Limit: session.MaxPage,
		})
		if err != nil || events.Next != nil {
			rt.Fatalf("read %s: %v", s.ID, err)
		}
		for _, e := range events.Events {
			if text := textsOf(rt, e); e.Status != session.EventInProgress && says(text, query) {
				ids = append(ids, s.ID)
				matches = append(matches, session.Match{
					EventID: e.ID, InvocationID: e.InvocationID, Seq: e.Seq, Author: e.Author, Text: text,
				})
				break
			}
		}
	}
	return matches, ids
}

// textsOf returns the texts of an event.
func textsOf(rt *rapid.T, e session.Event) string {
	var content struct{ Parts []struct{ Text string } }
	if raw := e.Fields["content"]; raw != nil {
		if err := json.Unmarshal(raw, &content); err != nil {
			rt.Fatal(err)
		}
	}
	var texts []string
	for _, part := range content.Parts {
		texts = append(texts, part.Text)
	}
	return strings.TrimSpace(strings.Join(texts, " "))
}

// says reports whether a text has words that begin with those of a query.
func says(text, query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(" "+strings.ToLower(text), fmt.Sprint(" ", word)) {
			return false
		}
	}
	return true
}
