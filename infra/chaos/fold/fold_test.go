package fold_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/chaos/fold"
)

// log parses entries from lines: a position, an invocation and, optionally,
// actions.
func log(t *testing.T, lines ...string) []fold.Entry {
	t.Helper()
	var entries []fold.Entry
	for _, line := range lines {
		seq, rest, _ := strings.Cut(line, " ")
		invocation, actions, found := strings.Cut(rest, " ")
		if !found {
			actions = "{}"
		}
		raw := fmt.Sprintf(`{"seq":%s,"id":"e%[1]s","invocation_id":%q,"author":"user","actions":%s}`, seq, invocation, actions)
		e, err := fold.Parse(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		taken  int
		lines  []string
		view   string
		state  map[string]string
		shared map[string]string
		faults int
	}{
		{
			name: "adds up the changes of events", lines: []string{
				`1 a {"state_delta":{"k":1,"l":1,"user:u":1}}`, `2 b {"state_delta":{"k":2,"l":null}}`,
			},
			view: "e1 e2", state: map[string]string{"k": "2"}, shared: map[string]string{"user:u": "1"},
		},
		{
			name: "a rewind hides entries and restores the state", lines: []string{
				`1 a {"state_delta":{"k":1}}`, `2 b {"state_delta":{"k":2,"l":2}}`,
				`3 m {"rewind_before_invocation_id":"b","state_delta":{"k":1,"l":null}}`, `4 c`,
			},
			view: "e1 e4", state: map[string]string{"k": "1"},
		},
		{
			name: "a rewind before a marker undoes it", lines: []string{
				`1 a {"state_delta":{"k":1}}`, `2 m {"rewind_before_invocation_id":"a","state_delta":{"k":null}}`,
				`3 n {"rewind_before_invocation_id":"m","state_delta":{"k":1}}`,
			},
			view: "e1", state: map[string]string{"k": "1"},
		},
		{
			name: "a discard cuts before its run's input", lines: []string{
				`1 r {"state_delta":{"k":1}}`, `2 b`, `3 r {"state_delta":{"k":2}}`,
				`4 m {"rewind_before_invocation_id":"r","rewind_before_seq":3,"state_delta":{"k":1}}`,
			},
			view: "e1 e2", state: map[string]string{"k": "1"},
		},
		{
			name: "reports a discard before a later entry", lines: []string{
				`1 r`, `2 m {"rewind_before_invocation_id":"r","rewind_before_seq":2}`,
			},
			view: "e1", state: map[string]string{}, faults: 1,
		},
		{
			name: "ignores user and app values of entries taken over", taken: 1, lines: []string{
				`1 a {"state_delta":{"user:u":1}}`, `2 b {"state_delta":{"app:a":2}}`,
			},
			view: "e1 e2", state: map[string]string{}, shared: map[string]string{"app:a": "2"},
		},
		{name: "reports a gap", lines: []string{"1 a", "3 b"}, view: "e1 e3", state: map[string]string{}, faults: 1},
		{
			name: "reports a marker that restores another state", lines: []string{
				`1 a {"state_delta":{"k":1}}`, `2 m {"rewind_before_invocation_id":"a"}`,
			}, state: map[string]string{}, faults: 1,
		},
		{
			name: "reports a marker without a boundary", lines: []string{`1 m {"rewind_before_invocation_id":"a"}`},
			state: map[string]string{}, faults: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folded := fold.Of(log(t, c.lines...), c.taken)
			var ids []string
			for _, e := range folded.Effective(folded.Now()) {
				ids = append(ids, e.ID)
			}
			if got := strings.Join(ids, " "); got != c.view {
				t.Errorf("shows %q, want %q", got, c.view)
			}
			if d := cmp.Diff(c.state, folded.Now().State); d != "" {
				t.Error(d)
			}
			if c.shared != nil && !cmp.Equal(c.shared, folded.Shared) {
				t.Error(cmp.Diff(c.shared, folded.Shared))
			}
			if len(folded.Faults) != c.faults {
				t.Errorf("faults: %q", folded.Faults)
			}
		})
	}
}

// TestStreamedEventsChangeTheStateLater checks that a streamed event changes the
// state when it is complete, after events appended in between.
func TestStreamedEventsChangeTheStateLater(t *testing.T) {
	t.Parallel()
	var entries []fold.Entry
	for _, raw := range []string{
		`{"seq":1,"id":"item","invocation_id":"a","author":"demo","actions":{"state_delta":{"k":1}}}`,
		`{"seq":2,"id":"other","invocation_id":"b","author":"user","actions":{"state_delta":{"l":1}}}`,
		`{"seq":3,"id":"s","invocation_id":"a","author":"demo","type":"state","item_id":"item","actions":{"state_delta":{"k":1}}}`,
		`{"seq":4,"id":"m","invocation_id":"m","author":"system","actions":{"rewind_before_invocation_id":"b","state_delta":{"k":null,"l":null}}}`,
	} {
		e, err := fold.Parse(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	if l := fold.Of(entries, 0); len(l.Faults) > 0 || len(l.Now().State) > 0 {
		t.Errorf("faults %v, state %v", l.Faults, l.Now().State)
	}
	if l := fold.Of(entries[:3], 0); l.Now().State["k"] != "1" || l.Now().State["l"] != "1" {
		t.Errorf("state %v", l.Now().State)
	}
	if l := fold.Of(entries[:2], 2); l.Now().State["k"] != "" || l.Now().State["l"] != "1" {
		t.Errorf("a fork between an event and its completion has the state %v", l.Now().State)
	}
}
