package chat

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/content"
)

// call is a function call of the model.
type call struct {
	index, part int
	id          string
	extra       map[string]json.RawMessage
}

// call appends to a function call. Servers differ: some leave the index out or send
// the same one for every call, some repeat id and name in each piece.
func (r *reader) call(c toolCall) error {
	args := &content.CallDelta{ArgsText: string(c.Function.Arguments)}
	at := r.find(c)
	if at < 0 {
		args.ID, args.Name = c.ID, c.Function.Name
		begun := call{index: len(r.calls), part: r.next(), id: c.ID, extra: map[string]json.RawMessage{}}
		if c.Index != nil {
			begun.index = *c.Index
		}
		r.calls = append(r.calls, begun)
		at = len(r.calls) - 1
	}
	maps.Copy(r.calls[at].extra, c.extra)
	return r.out.Delta(content.Delta{Part: r.calls[at].part, Call: args})
}

// find returns the index of the call that a piece continues, -1 if it begins a new
// one.
func (r *reader) find(c toolCall) int {
	for i, begun := range slices.Backward(r.calls) {
		if c.Index != nil && begun.index != *c.Index {
			continue
		}
		if c.ID == "" || c.ID == begun.id {
			return i
		}
	}
	return -1
}

// recorded returns the record of the completion with what its calls have.
func (r *reader) recorded() record {
	out := r.record
	extras := make([]map[string]json.RawMessage, len(r.calls))
	for i, call := range r.calls {
		if extras[i] = call.extra; len(call.extra) > 0 {
			out.ToolCalls = extras
		}
	}
	return out
}
