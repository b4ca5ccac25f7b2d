package conversation

import (
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
)

// comparison is how a list of messages relates to a thread.
type comparison struct {
	fresh  int          // index of the first new message in the list
	last   int          // index of the last entry that the front end has; -1 for none
	listed map[int]bool // entries in the list
}

// compare returns ErrOlder if older events may have what decides. Activities are replaced
// where they were first, so one in a partial thread may be older than it seems.
func (in Input) compare(t *Thread) (comparison, error) {
	c := comparison{last: -1, listed: map[int]bool{}}
	index := map[string]int{} // of the last entry with an id
	for i, e := range t.entries {
		index[e.ID] = i
	}
	for i, m := range in.Messages {
		if at, known := index[m.ID]; known && m.ID != in.Edit {
			c.listed[at] = true
			c.fresh, c.last = i+1, max(c.last, at)
		}
	}
	switch {
	case !t.partial:
	case c.last >= 0 && t.entries[c.last].Role == Activity, c.last < 0 && in.mayBeOlder(t):
		return c, ErrOlder
	}
	for i := len(in.Messages) - 1; i >= c.fresh; i-- {
		if in.Messages[i].Role != Assistant {
			continue
		}
		// The front end's own id of an answer: the thread's own messages up to the
		// next input.
		c.fresh = i + 1
		for c.last >= 0 && c.last+1 < len(t.entries) && !IsInput(t.eventOf(c.last+1)) {
			c.last++
		}
		break
	}
	return c, nil
}

// mayBeOlder reports whether a message of the list may be older than a thread that has
// none of it. A list with nothing but a new message has no other to look for.
func (in Input) mayBeOlder(t *Thread) bool {
	if in.Edit != "" || len(in.Messages) == 0 {
		return in.Edit != ""
	}
	var users, others int
	for _, m := range in.Messages {
		switch m.Role {
		case User:
			users++
		case Assistant, Tool:
			others++
		}
	}
	return in.Regenerate || users > 1 || others > 0 || len(t.events) < LookBack
}

// answered returns the last entry up to the calls that the request answers, which the
// front end must have; -1 without one.
func (in Input) answered(t *Thread, from int) int {
	ids := map[string]bool{}
	for _, m := range in.Messages[from:] {
		ids[m.CallID] = m.Role == Tool
	}
	for _, a := range in.Answers {
		ids[a.CallID] = true
	}
	last, event := -1, -1
	for _, c := range t.view.calls.list {
		if ids[c.ID] {
			event = slices.IndexFunc(t.events, func(e session.Event) bool { return e.ID == c.Event })
		}
	}
	for i, e := range t.entries {
		if e.event <= event {
			last = i
		}
	}
	return last
}

// lastInput returns the last entry of an input up to an index, or of all if the index
// is -1; -1 without one.
func (t *Thread) lastInput(last int) int {
	if last < 0 {
		last = len(t.entries) - 1
	}
	for last >= 0 && !IsInput(t.eventOf(last)) {
		last--
	}
	return last
}

// dropped returns the invocation of the first message after an entry that a front end
// would have in its list; "" without one. Lists may lack reasoning, activities and
// results of tools.
func (t *Thread) dropped(last int) string {
	for i := last + 1; i < len(t.entries); i++ {
		if role := t.entries[i].Role; role == User || role == Assistant {
			return t.eventOf(i).InvocationID
		}
	}
	return ""
}

// repeated returns the inputs of an invocation up to an entry that the list still has.
func (t *Thread) repeated(invocation string, last int, listed map[int]bool) []session.Event {
	var out []session.Event
	seen := map[int]bool{}
	for i, e := range t.entries[:last+1] {
		of := t.eventOf(i)
		if invocation == "" || of.InvocationID != invocation || !IsInput(of) || seen[e.event] || len(listed) > 0 && !listed[i] {
			continue
		}
		seen[e.event] = true
		again := session.Event{Author: of.Author, StateDelta: of.StateDelta, Fields: maps.Clone(of.Fields)}
		if o := originOf(of); o.MessageID == "" {
			o.MessageID = e.ID
			if setOrigin(&again, o) != nil {
				continue
			}
		}
		out = append(out, again)
	}
	return out
}
