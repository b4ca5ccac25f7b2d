package stores_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// A process stops when it has closed an external agent's item to deltas, before the item
// is complete. Whatever comes next completes it; only deltas are refused.
func TestComplete_that_stopped(t *testing.T) {
	t.Parallel()
	whole := (session.Event{Author: "agent"}).With("content", []byte(`{"role":"model","parts":[{"text":"done"}]}`))
	open := func(t *testing.T, p *pushing) run.Item {
		t.Helper()
		_, it, err := p.other.Runs.OpenPush(t.Context(), p.ref, "item", nil)
		if err != nil || it == nil {
			t.Fatalf("the item is %v, %v", it, err)
		}
		return it
	}
	for length, text := range map[string]string{"a segment with room": "short", "a full segment": strings.Repeat("long ", 200)} {
		for name, next := range map[string]func(*testing.T, *pushing){
			"the completion is sent again": func(t *testing.T, p *pushing) {
				t.Helper()
				if _, err := open(t, p).Complete(t.Context(), whole); err != nil {
					t.Error(err)
				}
			},
			"the run ends": func(t *testing.T, p *pushing) {
				t.Helper()
				mustEnd(t, p.other, p.ref, run.Completed, nil)
			},
			"another item begins": func(t *testing.T, p *pushing) {
				t.Helper()
				begun := (session.Event{ID: "next", Author: "agent", InvocationID: p.ref.RunID}).With("content", []byte(`{"role":"model"}`))
				if _, err := p.other.Runs.BeginItem(t.Context(), p.ref, begun); err != nil {
					t.Error(err)
				}
			},
		} {
			t.Run(length+", "+name, func(t *testing.T) {
				t.Parallel()
				p := newPushing(t)
				if err := open(t, p).FlushAt(t.Context(), 1, []content.Delta{{Text: text}}); err != nil {
					t.Fatal(err)
				}
				_, it, err := stopping(p.engine, "E#").Runs.OpenPush(t.Context(), p.ref, "item", nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := it.Complete(t.Context(), whole); !errors.Is(err, errInterrupted) {
					t.Fatalf("got %v", err)
				}
				fixture.WantKind(t, open(t, p).FlushAt(t.Context(), 2, []content.Delta{{Text: "late"}}), fault.Conflict)
				next(t, p)
				for _, e := range mustEvents(t, p.other, alice, "s", session.EventQuery{View: session.All}) {
					if e.ID == "item" && (e.Status != session.EventCompleted || e.Deltas != 2) {
						t.Errorf("the item is %s, with %d deltas", e.Status, e.Deltas)
					}
				}
			})
		}
	}
}
