package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/chaos/fold"
)

// dense checks that positions are 1, 2, 3 … up to the head, and that markers
// restore the earlier state.
func (c *Checker) dense(s *subject) {
	c.expect(len(s.log.Faults) == 0, "dense", s.session.ID, "%s", strings.Join(s.log.Faults, "; "))
	c.expect(s.header.Head == int64(len(s.log.Entries)), "dense", s.session.ID, "the head is %d, but %d entries are listed",
		s.header.Head, len(s.log.Entries))
	seen := map[string]bool{}
	for _, e := range s.log.Entries {
		c.expect(!seen[e.ID], "dense", s.session.ID, "the id %s is not unique", e.ID)
		seen[e.ID] = true
		c.expect(e.Status != "in_progress", "stuck", s.session.ID, "the entry %d is still in progress", e.Seq)
	}
}

// views checks that every list shows what the log implies.
func (c *Checker) views(s *subject) {
	want := lines(s.log.Effective(s.log.Now()))
	reverse := slices.Clone(s.reverse)
	slices.Reverse(reverse)
	c.same("views", s, "events", want, lines(s.effective))
	c.same("views", s, "events from the newest", want, lines(reverse))
	c.same("views", s, "thread", want, items(s.thread.Items))
}

func (c *Checker) same(invariant string, s *subject, what string, want, got []string) {
	c.expect(slices.Equal(want, got), invariant, s.session.ID, "%s: %s", what, difference(want, got))
}

// difference describes the first difference of two lists.
func difference(want, got []string) string {
	for i := range max(len(want), len(got)) {
		w, g := "nothing", "nothing"
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			return fmt.Sprintf("of %d and %d, number %d should be %.600s, and is %.600s", len(want), len(got), i, w, g)
		}
	}
	return "the same"
}

func lines(entries []fold.Entry) []string {
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, canonical(e.Raw))
	}
	return out
}

func items(list []view.Event) []string {
	out := make([]string, 0, len(list))
	for _, item := range list {
		raw, err := json.Marshal(item)
		if err != nil {
			raw = []byte(err.Error())
		}
		out = append(out, canonical(raw))
	}
	return out
}

// canonical is a JSON object with its members in order.
func canonical(raw json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// state checks that the state is the sum of the log's changes.
func (c *Checker) state(s *subject) {
	got := map[string]string{}
	for key, value := range s.state.Session {
		got[key] = canonical(value)
	}
	want := map[string]string{}
	for key, value := range s.log.Now().State {
		want[key] = canonical([]byte(value))
	}
	c.expect(fmt.Sprint(want) == fmt.Sprint(got), "state", s.session.ID, "state by the log: %v, read: %v", want, got)
	if s.session.Import {
		return // the user's values may be older than the session
	}
	for scope, values := range map[string]map[string]json.RawMessage{"user:": s.state.User, "app:": s.state.App} {
		key := scope + s.session.ID
		want, known := s.log.Shared[key]
		if !known {
			continue
		}
		got := "null"
		if value, ok := values[s.session.ID]; ok {
			got = canonical(value)
		}
		c.expect(want == got, "state", s.session.ID, "%s by the log: %s, read: %s", key, want, got)
	}
}
