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

// dense: positions are 1, 2, 3 … up to the head, and markers restore what was.
func (c *Checker) dense(s *subject) {
	c.hold(len(s.log.Faults) == 0, "dense", s.talk.ID, "%s", strings.Join(s.log.Faults, "; "))
	c.hold(s.header.Head == int64(len(s.log.Entries)), "dense", s.talk.ID, "the head is %d, and %d entries are listed",
		s.header.Head, len(s.log.Entries))
	seen := map[string]bool{}
	for _, e := range s.log.Entries {
		c.hold(!seen[e.ID], "dense", s.talk.ID, "the id %s is there twice", e.ID)
		seen[e.ID] = true
		c.hold(e.Status != "in_progress", "stuck", s.talk.ID, "the entry %d is in progress", e.Seq)
	}
}

// views: every list shows what the log says that it shows.
func (c *Checker) views(s *subject) {
	want := lines(s.log.Effective(s.log.Now()))
	reverse := slices.Clone(s.reverse)
	slices.Reverse(reverse)
	c.same("views", s, "events", want, lines(s.effective))
	c.same("views", s, "events from the newest", want, lines(reverse))
	c.same("views", s, "thread", want, items(s.thread.Items))
}

func (c *Checker) same(invariant string, s *subject, what string, want, got []string) {
	c.hold(slices.Equal(want, got), invariant, s.talk.ID, "%s: %s", what, difference(want, got))
}

// difference is the first one of two lists.
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

// state: it is what the log's changes add up to.
func (c *Checker) state(s *subject) {
	got := map[string]string{}
	for key, value := range s.state.Session {
		got[key] = canonical(value)
	}
	want := map[string]string{}
	for key, value := range s.log.Now().State {
		want[key] = canonical([]byte(value))
	}
	c.hold(fmt.Sprint(want) == fmt.Sprint(got), "state", s.talk.ID, "by its log the state is %v, read is %v", want, got)
	if s.talk.Import {
		return // whose values of the user were there before
	}
	for scope, values := range map[string]map[string]json.RawMessage{"user:": s.state.User, "app:": s.state.App} {
		key := scope + s.talk.ID
		want, told := s.log.Shared[key]
		if !told {
			continue
		}
		got := "null"
		if value, ok := values[s.talk.ID]; ok {
			got = canonical(value)
		}
		c.hold(want == got, "state", s.talk.ID, "by its log %s is %s, read is %s", key, want, got)
	}
}
