package stores_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/run"
)

// A fork made while an item streams has everything that was complete, and later
// changes of the item do not affect it.
func TestFork_of_a_streaming_session(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustAppend(t, s, alice, "s", stateEvent(t, "i0", map[string]any{"a": 0}))
	mustStart(t, s, startOf(t, "s", "r1", "go"))
	it := mustBegin(t, s, refOf("s", "r1"), "item")
	mustFlush(t, it, "some")
	mustAppend(t, s, alice, "s", stateEvent(t, "i9", map[string]any{"a": 9, "b": 9}))
	mustSave(t, s, "s", "t1", "[]", "i10")
	mustName(t, s, "s", "i11", "file", "content")
	mustAppend(t, s, alice, "s", event(t, "", "i12", "last"))

	before := "i12"
	for fork, want := range map[string][]string{
		"whole":  {"idle", "1:", "2:go", "3:", "5:", "6:last"},
		"before": {"idle", "1:", "2:go", "3:", "5:"},
	} {
		t.Run(fork, func(t *testing.T) {
			boundary := &before
			if fork == "whole" {
				boundary = nil
			}
			mustFork(t, s, "s", fork, boundary)
			check := func(when string) {
				t.Helper()
				wantThread(t, s, fork, want...)
				if got := merged(t, s, alice, fork); got != `{"a":9,"b":9}` {
					t.Errorf("%s: state %s", when, got)
				}
				mustRead(t, s, newest(fork, "file"), "content")
			}
			check("at once")
			mustFlush(t, it, strings.Repeat("more ", 300))
			check("when the item has grown")
			mustFork(t, s, fork, fork+" again", nil)
			wantThread(t, s, fork+" again", want...)
			mustSave(t, s, fork, "t1."+fork, "[]", "i10")
		})
	}
	e := stateEvent(t, "r1", map[string]any{"a": "of the item"})
	e.ID = "item"
	if _, err := it.Complete(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, refOf("s", "r1"), run.Completed, nil)
	t.Run("the item completes", func(t *testing.T) {
		wantThread(t, s, "whole", "idle", "1:", "2:go", "3:", "5:", "6:last")
		if got := merged(t, s, alice, "whole"); got != `{"a":9,"b":9}` {
			t.Errorf("state %s", got)
		}
	})
	t.Run("a document of the fork", func(t *testing.T) {
		var doc bytes.Buffer
		if err := s.Archives.Export(t.Context(), alice, "whole", archive.NewWriter(&doc)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(doc.String(), "of the item") {
			t.Error("the item is exported with the fork")
		}
		other := newStore(t)
		if _, err := other.Archives.Import(t.Context(), upload(t, doc.Bytes())); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a rewind in the fork, after the item and before it", func(t *testing.T) {
		mustRewind(t, s, "whole", "i10")
		wantThread(t, s, "whole", "idle", "1:", "2:go", "3:")
		mustRewind(t, s, "whole", "i9")
		wantThread(t, s, "whole", "idle", "1:", "2:go")
		if got := merged(t, s, alice, "whole"); got != `{"a":0}` {
			t.Errorf("state %s", got)
		}
		mustRewind(t, s, "whole", "r1")
		wantThread(t, s, "whole", "idle", "1:")
	})
	t.Run("a fork of the session now has the item", func(t *testing.T) {
		f := mustFork(t, s, "s", "later", nil)
		if got := mustThread(t, s, "later"); len(got.Items) != 6 || cmp.Equal(f.HeadSeq, int64(6)) {
			t.Errorf("%d items, head_seq %d", len(got.Items), f.HeadSeq)
		}
	})
}
