package responsesconvert

import (
	"cmp"
	"encoding/json"
	"maps"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// CodeNoCall is the code of the fault of an output whose call is unknown.
const CodeNoCall = "no_tool_call_found"

// Called is a function's call that an output can answer.
type Called struct {
	ID   string // in the event
	Name string
}

// Calls returns the calls of a session's events, by the ids that clients have for them.
// The ids are unique in a run only: the latest call with an id is meant.
func Calls(events []session.Event) map[string]Called {
	out := map[string]Called{}
	views := map[string]*conversation.View{}
	for _, e := range events {
		if conversation.IsInput(e) {
			continue
		}
		if views[e.InvocationID] == nil {
			views[e.InvocationID] = conversation.NewView()
		}
		for _, p := range views[e.InvocationID].Pieces(e) {
			if p.Kind == conversation.PieceCall {
				out[p.CallID] = Called{p.GivenID, p.Name}
			}
		}
	}
	return out
}

// Events returns items as events: those up to the last one of an agent, which are
// history, and those after it, which are input. Consecutive items of an agent are one
// event, and so are consecutive outputs of calls. If there are more inputs than a run
// may have, the first of them are history, too. known are the session's calls.
func Events(items []Given, agent string, known map[string]Called) (history, input []session.Event, err error) {
	calls := maps.Clone(known)
	if calls == nil {
		calls = map[string]Called{}
	}
	b := builder{agent: agent, calls: calls}
	last := -1
	for i, g := range items {
		if g.agents {
			last = i
		}
		if err := b.add(g); err != nil {
			return nil, nil, err
		}
		if last == i {
			b.history = len(b.events)
		}
	}
	out := make([]session.Event, len(b.events))
	for i, e := range b.events {
		if out[i], err = e.event(); err != nil {
			return nil, nil, err
		}
	}
	from := max(b.history, len(out)-run.MaxInput)
	return out[:from:from], out[from:], nil
}

// builder builds events from items.
type builder struct {
	agent   string
	calls   map[string]Called
	events  []*built
	history int // number of events up to the last one of an agent
}

type built struct {
	author  string
	role    string // "" is the author's
	answers bool   // only outputs of calls
	parts   []content.Part
	waiting []string // ids of calls
}

func (b *builder) add(g Given) error {
	switch {
	case g.agents:
		e := b.open(b.agent, g.answer)
		e.parts = append(e.parts, g.parts...)
		if g.call != nil {
			b.calls[g.call.ID] = *g.call
			if g.waits {
				e.waiting = append(e.waiting, g.call.ID)
			}
		}
	case g.answersAt != "":
		call, ok := b.calls[g.answers]
		if !ok {
			return fault.Field(fault.Invalid, g.answersAt, "is no call of this conversation: %s", g.answers).With("code", CodeNoCall)
		}
		id := call.ID
		if id == "" {
			id = g.answers
		}
		e := b.open(conversation.User, true)
		e.parts = append(append(e.parts, content.Answer(id, call.Name, g.output)), g.parts...)
	default:
		b.events = append(b.events, &built{author: conversation.User, role: g.role, parts: g.parts})
	}
	return nil
}

// open returns the last event if more can be added to it, otherwise a new one.
func (b *builder) open(author string, answers bool) *built {
	if n := len(b.events); n > 0 {
		if last := b.events[n-1]; last.role == "" && last.author == author && last.answers == answers {
			return last
		}
	}
	e := &built{author: author, answers: answers}
	b.events = append(b.events, e)
	return e
}

func (e *built) event() (session.Event, error) {
	role := cmp.Or(e.role, conversation.User)
	out := session.Event{Author: e.author, Fields: map[string]json.RawMessage{}}
	var err error
	if e.author != conversation.User && !e.answers {
		role = "model"
	}
	if len(e.waiting) > 0 {
		if out.Fields["long_running_tool_ids"], err = jsonx.Marshal(e.waiting); err != nil {
			return out, err
		}
	}
	out.Fields["content"], err = content.Content{Role: role, Parts: e.parts}.JSON()
	return out, err
}

// agentName is the author of an agent's items that a client adds to a conversation.
const agentName = "assistant"

// Append returns items as events that are added to a conversation without a run. known
// are its calls.
func Append(items []Given, known map[string]Called) ([]session.Event, error) {
	history, input, err := Events(items, agentName, known)
	return append(history, input...), err
}
