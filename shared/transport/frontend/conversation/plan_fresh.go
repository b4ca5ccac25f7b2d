package conversation

import (
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

// fresh returns the new messages from an index on, and the answers to calls, as input.
func (in Input) fresh(t *Thread, from int) ([]session.Event, error) {
	var out []session.Event
	if !t.certainCalls() && in.answersCalls(from) {
		return nil, ErrOlder
	}
	answers, err := in.answers(t)
	if err != nil {
		return nil, err
	}
	if len(answers) > 0 {
		e, err := inputEvent("", answers)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	for _, m := range in.Messages[from:] {
		if m.Role == Tool && slices.Contains(in.callIDs(), m.CallID) {
			continue // the same answer a second time
		}
		parts, err := m.parts(t)
		if err != nil {
			return nil, err
		}
		if len(parts) == 0 {
			continue
		}
		if err := ids.CheckSegment(m.At+"/id", m.ID); err != nil {
			return nil, err
		}
		e, err := inputEvent(m.ID, parts)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// answersCalls reports whether the answers or the messages from an index on are for
// calls.
func (in Input) answersCalls(from int) bool {
	return len(in.Answers) > 0 || slices.ContainsFunc(in.Messages[from:], func(m Given) bool { return m.Role == Tool })
}

// answers returns the responses to the calls that are answered.
func (in Input) answers(t *Thread) ([]content.Part, error) {
	var parts []content.Part
	for _, a := range in.Answers {
		c := t.view.calls.shownAs(a.CallID)
		if c == nil && t.partial {
			return nil, ErrOlder
		}
		if c == nil || !c.answerable() {
			return nil, fault.Field(fault.Invalid, a.At, "is no interrupt of the thread")
		}
		if c.Answered {
			continue // sent before
		}
		value, err := a.response(c)
		if err != nil {
			return nil, err
		}
		parts = append(parts, responsePart(c, value))
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return parts, in.checkCovered(t)
}

// checkCovered returns an error if the request answers some interrupts, and leaves others
// of the same runs open.
func (in Input) checkCovered(t *Thread) error {
	if !in.AnswersAll {
		return nil
	}
	answered := map[string]bool{}
	for _, a := range in.Answers {
		answered[a.CallID] = true
	}
	for _, m := range in.Messages {
		answered[m.CallID] = answered[m.CallID] || m.Role == Tool
	}
	if !t.Ended() {
		return ErrOlder
	}
	offered := t.Offered()
	for _, c := range t.Open(true) {
		if !answered[c.ID] && !slices.Contains(offered, c.Name) {
			return fault.Field(fault.Invalid, in.AnswersAt, "must answer each open interrupt, also this one: %s", c.ID)
		}
	}
	return nil
}

// parts returns a message as the parts of an input; none if it is not input or its
// call was answered before.
func (m Given) parts(t *Thread) ([]content.Part, error) {
	switch m.Role {
	case User:
		return m.Parts, m.Err
	case Tool:
		c := t.view.calls.shownAs(m.CallID)
		if c == nil && t.partial {
			return nil, ErrOlder
		}
		if c == nil {
			return nil, fault.Field(fault.Invalid, m.CallAt, "is no call of the thread")
		}
		if c.Answered {
			return nil, nil
		}
		return []content.Part{responsePart(c, m.Response)}, m.Err
	}
	return nil, nil // the agent's, or instructions, which a session does not have
}
