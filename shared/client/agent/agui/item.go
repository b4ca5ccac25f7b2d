package agui

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// Kinds of parts.
const (
	textPart    = "text"
	thoughtPart = "reasoning"
	callPart    = "call"
)

// partKey identifies a part of an item.
type partKey struct{ kind, id string }

// item is the item in progress: an assistant message with its tool calls, and the
// thinking before it. Messages that are in progress at the same time share an item.
type item struct {
	parts    map[partKey]int
	messages []string // of the parts, as in record
	message  string   // the assistant message's id, if it is known
	calls    []string // ids
	answers  bool     // has text or calls
	open     map[partKey]bool
}

func newItem() item { return item{parts: map[partKey]int{}, open: map[partKey]bool{}} }

// busy reports whether parts of a kind other than the given one are in progress; ""
// stands for all kinds.
func (i item) busy(kind string, but partKey) bool {
	for key := range i.open {
		if key != but && (kind == "" || key.kind == kind) {
			return true
		}
	}
	return false
}

// begins reports whether a new part of a message begins a new item.
func (i item) begins(key partKey, message string) bool {
	switch {
	case i.busy("", key):
		return false
	case key.kind == thoughtPart:
		return i.answers
	}
	return i.message != "" && message != "" && i.message != message
}

// say appends to a part, and begins it if necessary, in a new item if it is of another
// message.
func (r *reader) say(key partKey, message string, d content.Delta) error {
	at, begun := r.item.parts[key]
	if !begun {
		if r.item.begins(key, message) {
			open := r.item.open[key]
			if err := r.complete(false); err != nil {
				return err
			}
			if open {
				r.item.open[key] = true
			}
		}
		at = r.item.begin(key, message)
	}
	d.Part = at
	return r.out.Delta(d)
}

// begin adds a part and returns its index.
func (i *item) begin(key partKey, message string) int {
	at := len(i.messages)
	i.parts[key], i.messages = at, append(i.messages, message)
	if key.kind == thoughtPart {
		return at
	}
	i.answers = true
	if message != "" {
		i.message = message
	}
	if key.kind == callPart {
		i.calls = append(i.calls, key.id)
	}
	return at
}

// complete completes the item in progress and emits the results of its calls. At the
// end of the run all calls without a result are long-running; before that, only those
// of the front end's tools.
func (r *reader) complete(last bool) error {
	if r.out.Busy() {
		members := map[string]any{}
		record := r.pending
		record.Messages = r.item.messages
		if ids := r.longRunning(last); len(ids) > 0 {
			members["long_running_tool_ids"] = ids
		}
		if err := r.event(members, record); err != nil {
			return err
		}
	}
	r.item = newItem()
	results := r.results
	r.results = nil
	for _, e := range results {
		if err := r.emitResult(e); err != nil {
			return err
		}
	}
	return nil
}

// event emits an event with members and a record, which also has what came since the
// last event.
func (r *reader) event(members map[string]any, kept record) error {
	members[recordMember] = kept
	if delta := r.state.store(); len(delta) > 0 {
		members["actions"] = map[string]session.Delta{"state_delta": delta}
	}
	if !jsonx.IsNull(r.usage) {
		members["usage_metadata"], r.usage = r.usage, nil
	}
	r.pending, r.held = record{Agent: r.pending.Agent}, 0
	raw, err := jsonx.Marshal(members)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	return r.out.Event(raw)
}

// longRunning returns the calls of the item that the user answers.
func (r *reader) longRunning(last bool) []string {
	var ids []string
	for _, id := range r.item.calls {
		if !r.done[id] && (last || r.tools[r.names[id]]) {
			ids = append(ids, id)
		}
	}
	return ids
}

// textOf decodes the text of a delta; "" for none.
func (r *reader) textOf(raw json.RawMessage) (string, error) {
	var text string
	if !jsonx.IsNull(raw) && json.Unmarshal(raw, &text) != nil {
		return "", r.malformed("a message's delta must be a string")
	}
	return text, nil
}
