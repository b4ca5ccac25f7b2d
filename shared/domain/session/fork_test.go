package session_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
)

func TestBoundary_Resolve(t *testing.T) {
	t.Parallel()
	shown := session.Timeline{{Log: "other", From: 1, To: 2, Seq: 1}, {Log: "log", From: 3, To: 9, Seq: 3}}
	whole := session.Boundary{Outline: session.OutlineOf(shown), Position: 9, Found: true}
	change := session.Delta{"a": json.RawMessage("1")}
	for name, c := range map[string]struct {
		item    session.OpenItem
		want    session.Timeline
		compare bool
	}{
		"leaves out an item in progress and keeps what follows it": {
			item: session.OpenItem{Log: "log", Position: 5, InProgress: true},
			want: session.Timeline{
				{Log: "other", From: 1, To: 2, Seq: 1}, {Log: "log", From: 3, To: 4, Seq: 3}, {Log: "log", From: 6, To: 9, Seq: 6},
			},
		},
		"does not compare the state of an item in progress": {
			item: session.OpenItem{Log: "log", Position: 9, InProgress: true, Change: change},
			want: session.Timeline{{Log: "other", From: 1, To: 2, Seq: 1}, {Log: "log", From: 3, To: 8, Seq: 3}},
		},
		"keeps a completed item": {
			item: session.OpenItem{Log: "log", Position: 5}, want: shown,
		},
		"compares the state with that of a completed item": {
			item: session.OpenItem{Log: "log", Position: 5, Change: change}, want: shown, compare: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, compare := whole.Resolve(c.item)
			if diff := cmp.Diff(session.Boundary{Outline: session.OutlineOf(c.want), Position: 9, Found: true}, got); diff != "" || compare != c.compare {
				t.Errorf("compare %t, boundary (-want +got):\n%s", compare, diff)
			}
		})
	}
}
