package stores_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// longMetadata returns metadata that take about as many bytes in the table.
func longMetadata(t *testing.T, name string, bytes int) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"name": name, "text": incompressible(bytes)})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// wantMetadata compares a session's metadata, by itself and in lists.
func wantMetadata(t *testing.T, s *stores.Store, id string, want json.RawMessage) {
	t.Helper()
	got, err := s.Sessions.Get(t.Context(), alice, id)
	if err != nil || string(got.Metadata) != string(want) {
		t.Errorf("metadata of %s: %.60s, want %.60s, %v", id, got.Metadata, want, err)
	}
	for _, exact := range []bool{false, true} {
		page, err := s.Sessions.List(t.Context(), session.ListQuery{UserID: alice, Limit: 100, Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		listed := 0
		for _, one := range page.Sessions {
			if one.ID == id && string(one.Metadata) == string(want) {
				listed++
			}
		}
		if listed != 1 {
			t.Errorf("%s is listed %d times with its metadata, exact %t", id, listed, exact)
		}
	}
}

func mustChange(t *testing.T, s *stores.Store, id string, p session.Patch) {
	t.Helper()
	if _, err := s.Sessions.Update(t.Context(), alice, id, p); err != nil {
		t.Fatal(err)
	}
}

// TestMetadata_large follows metadata that are in an item of their own: through changes,
// forks, imports and deletions.
func TestMetadata_large(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	items := func(want int, when string) {
		t.Helper()
		n := 0
		for _, key := range keysIn(t, engine) {
			if strings.Contains(key, " MD#") {
				n++
			}
		}
		if n != want {
			t.Errorf("%d items with metadata %s, want %d", n, when, want)
		}
	}
	first, second, third := longMetadata(t, "first", 9000), longMetadata(t, "second", 8000), longMetadata(t, "third", 7000)
	if _, err := s.Sessions.Create(t.Context(), session.New{ID: "s", UserID: alice, AppName: "app", Metadata: first, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	wantMetadata(t, s, "s", first)
	mustAppend(t, s, alice, "s", event(t, "", "one", "hello"))
	mustChange(t, s, "s", session.Patch{Metadata: second})
	wantMetadata(t, s, "s", second)
	items(1, "after a change")
	mustFork(t, s, "s", "f", nil)
	wantMetadata(t, s, "f", second)
	items(1, "after a fork")
	mustChange(t, s, "s", session.Patch{Metadata: third})
	wantMetadata(t, s, "s", third)
	wantMetadata(t, s, "f", second)
	mustFork(t, s, "f", "g", nil)
	mustImport(t, s, mustExport(t, s), "moved")
	wantMetadata(t, s, "moved", third)
	for _, id := range []string{"s", "f"} {
		if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
			t.Fatal(err)
		}
	}
	wantMetadata(t, s, "g", second)
	small := json.RawMessage(`{"a":1}`)
	mustChange(t, s, "g", session.Patch{Metadata: small})
	wantMetadata(t, s, "g", small)
	mustChange(t, s, "moved", session.Patch{Metadata: small, Retention: new(int64(0))})
	wantMetadata(t, s, "moved", small)
	items(2, "after changes to small ones") // those that forks have shown
}

// TestMetadata_cost bounds what rewinds, forks and changes of the name cost with large
// metadata.
func TestMetadata_cost(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int{10, 1000, 15000} {
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(storetest.Engine(t)))
		if _, err := s.Sessions.Create(t.Context(), session.New{ID: "s", UserID: alice, AppName: "app", Metadata: longMetadata(t, "m", bytes), Nonce: "n"}); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, s, alice, "s", event(t, "", "one", "hello"))
		mustAppend(t, s, alice, "s", event(t, "", "two", "hello"))
		for name, c := range map[string]struct {
			work func()
			most capacity.Usage
		}{
			"rewind": {func() { mustRewind(t, s, "s", "two") }, capacity.Usage{Reads: 8, Writes: 7}},
			"fork":   {func() { mustFork(t, s, "s", fmt.Sprint("f", bytes), nil) }, capacity.Usage{Reads: 8, Writes: 9}},
			"name":   {func() { mustChange(t, s, "s", session.Patch{Name: new("new")}) }, capacity.Usage{Reads: 6, Writes: 4}},
		} {
			before := meter.Total()
			c.work()
			used := meter.Total().Sub(before)
			t.Logf("%d bytes, %s: %+v", bytes, name, used)
			if used.Reads > c.most.Reads || used.Writes > c.most.Writes {
				t.Errorf("%s with metadata of %d bytes: %+v, want at most %+v", name, bytes, used, c.most)
			}
		}
	}
}
