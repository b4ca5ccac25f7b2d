package stores_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// impossibleNames are names that events may contain and no artifact can have.
func impossibleNames() []string {
	return []string{"", "user:", "a/b", "..", "user:a/b", "a\nb", "app:/"}
}

func mustExport(t *testing.T, s *stores.Store) []byte {
	t.Helper()
	var doc bytes.Buffer
	if err := s.Archives.Export(t.Context(), alice, "s", archive.NewWriter(&doc)); err != nil {
		t.Fatalf("export: %v", err)
	}
	return doc.Bytes()
}

// mustMove imports a document into another table, as the same user.
func mustMove(t *testing.T, doc []byte, opts ...stores.Option) *stores.Store {
	t.Helper()
	s := newStore(t, opts...)
	u := upload(t, doc)
	u.UserID = alice
	if _, err := s.Archives.Import(t.Context(), u); err != nil {
		t.Fatalf("import: %v\n%s", err, doc)
	}
	return s
}

// Events may name artifacts that cannot exist. Their session is moved like any other.
func TestImport_with_impossible_artifact_names(t *testing.T) {
	t.Parallel()
	noon := stores.WithClock(func() time.Time { return time.UnixMilli(1_700_000_000_000) })
	s := newStore(t, noon)
	mustCreate(t, s, alice, "s", nil)
	mustPut(t, s, alice, "s", "a", "first")
	mustAppend(t, s, alice, "s", named(t, "start", map[string]int64{"a": 0}))
	for i, name := range impossibleNames() {
		mustAppend(t, s, alice, "s", named(t, fmt.Sprint("undone-", i), map[string]int64{name: 0, "a": int64(i)}))
		mustRewind(t, s, "s", fmt.Sprint("undone-", i))
		mustAppend(t, s, alice, "s", named(t, fmt.Sprint("kept-", i), map[string]int64{name: int64(i)}))
	}
	doc := mustExport(t, s)
	moved := mustMove(t, doc, noon)
	if diff := cmp.Diff(string(doc), string(mustExport(t, moved))); diff != "" {
		t.Errorf("exported again (-first +second):\n%s", diff)
	}
	t.Run("a rewind does the same in both", func(t *testing.T) {
		for i := len(impossibleNames()) - 1; i >= 0; i-- {
			before := fmt.Sprint("kept-", i)
			want, got := mustRewind(t, s, "s", before), mustRewind(t, moved, "s", before)
			if diff := cmp.Diff(want.Artifacts, got.Artifacts); diff != "" {
				t.Errorf("restored (-original +imported):\n%s", diff)
			}
			whole := session.EventQuery{Limit: 100}
			if diff := cmp.Diff(texts(mustEvents(t, s, alice, "s", whole)), texts(mustEvents(t, moved, alice, "s", whole))); diff != "" {
				t.Errorf("events (-original +imported):\n%s", diff)
			}
		}
		mustMove(t, mustExport(t, moved))
	})
}
