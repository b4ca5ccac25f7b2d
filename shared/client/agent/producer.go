package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// MaxEvent is the maximum size of a whole event that an agent sends, in bytes of
// JSON.
const MaxEvent = run.MaxItem

// maxRole is the maximum length of a content's role, in characters.
const maxRole = 32

// nameless is the author of output of an agent without a name.
const nameless = "agent"

// producer turns an agent's answer into outputs that satisfy the contract of this
// package: it checks everything, adds missing values, and completes items that the
// agent did not complete.
type producer struct {
	runID  string
	author string // of events without an author
	emit   func(run.Output) error

	item    *run.ItemStart // in progress, or nil
	content *run.Content
	items   int // begun or received whole
	taken   int // events of the answer, including the current one
}

func newProducer(req run.Request, emit func(run.Output) error) *producer {
	return &producer{runID: req.RunID, author: cmp.Or(req.Agent, nameless), emit: emit}
}

// begin begins an item and completes the one before it.
func (p *producer) begin(item run.ItemStart) error {
	if err := p.complete(nil); err != nil {
		return err
	}
	if item.Author == "" {
		item.Author = p.author
	}
	if item.Role == "" {
		item.Role = "model"
	}
	if err := checkItem(item); err != nil {
		return p.malformed("an item", err)
	}
	if err := p.count(); err != nil {
		return err
	}
	p.item, p.content = &item, run.NewContent(item.Role)
	begun := item // the receiver owns it from now on
	return p.emit(run.Output{Item: &begun})
}

// checkItem returns an error for the member of an item that breaks a rule.
func checkItem(i run.ItemStart) error {
	if i.ID != "" {
		if err := fault.CheckNewID("/id", i.ID); err != nil {
			return err
		}
	}
	if utf8.RuneCountInString(i.Author) > session.MaxAuthor {
		return fault.Field(fault.Invalid, "/author", "must be at most %d characters", session.MaxAuthor)
	}
	if utf8.RuneCountInString(i.Role) > maxRole {
		return fault.Field(fault.Invalid, "/role", "must be at most %d characters", maxRole)
	}
	return nil
}

func (p *producer) count() error {
	if p.items++; p.items > run.MaxItems {
		return newError(run.CodeLimit, "the agent produced more than %d items", run.MaxItems)
	}
	return nil
}

// delta appends to the item in progress, or to a new one if there is none.
func (p *producer) delta(d run.Delta) error {
	if p.item == nil {
		if err := p.begin(run.ItemStart{}); err != nil {
			return err
		}
	}
	if p.content.Size()+d.Size() > run.MaxItem {
		return newError(run.CodeLimit, "the agent produced an item of more than %d bytes", run.MaxItem)
	}
	if err := p.content.Append(d, ""); err != nil {
		return p.malformed("a delta", err)
	}
	return p.emit(run.Output{Delta: &d})
}

// event handles a whole event. It completes the item in progress if it has that
// item's id or none; otherwise it is an event of its own after that item.
func (p *producer) event(raw json.RawMessage) error {
	if len(raw) > MaxEvent {
		return newError(run.CodeLimit, "the agent sent an event of more than %d bytes", MaxEvent)
	}
	e, err := p.parse(raw)
	if err != nil {
		return p.malformed("an event", err)
	}
	switch {
	case e.Partial: // a preview of a later whole event
		return nil
	case p.item != nil && (e.ID == "" || e.ID == p.item.ID):
		return p.complete(&e)
	}
	if err := p.complete(nil); err != nil {
		return err
	}
	if err := p.count(); err != nil {
		return err
	}
	return p.emit(run.Output{Event: &e})
}

// parse returns an event as the session will store it: whatever the agent's
// invocation is, the event belongs to this run.
func (p *producer) parse(raw json.RawMessage) (session.Event, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return session.Event{}, fault.New(fault.Malformed, "must be an object")
	}
	var err error
	if members["invocation_id"], err = jsonx.Marshal(p.runID); err != nil {
		return session.Event{}, fmt.Errorf("encode the invocation: %w", err)
	}
	if jsonx.IsNull(members["author"]) {
		author := p.author
		if p.item != nil {
			author = p.item.Author
		}
		if members["author"], err = jsonx.Marshal(author); err != nil {
			return session.Event{}, fmt.Errorf("encode the author: %w", err)
		}
	}
	whole, err := jsonx.Marshal(members)
	if err != nil {
		return session.Event{}, fmt.Errorf("encode the event: %w", err)
	}
	return session.ParseEvent(whole, "")
}

// complete completes the item in progress, if there is one, with the event's content
// or else with its deltas'.
func (p *producer) complete(e *session.Event) error {
	if p.item == nil {
		return nil
	}
	if e == nil {
		e = &session.Event{InvocationID: p.runID, Author: p.item.Author}
	}
	e.ID = p.item.ID
	if jsonx.IsNull(e.Fields["content"]) {
		content, err := p.content.Finish()
		if err != nil {
			failed := newError(run.CodeContent, "the agent completed an item that is not whole")
			return failed.because(err)
		}
		if e.Fields == nil {
			e.Fields = map[string]json.RawMessage{}
		}
		e.Fields["content"] = content
	}
	p.item, p.content = nil, nil
	return p.emit(run.Output{Event: e, Completes: true})
}

// finish completes the last item when the agent is done.
func (p *producer) finish() error {
	if err := p.complete(nil); err != nil {
		return err
	}
	if p.items == 0 {
		return newError(CodeProtocol, "the agent was done without having produced anything")
	}
	return nil
}

// malformed returns the error for a part of the answer that breaks a rule, with its
// position.
func (p *producer) malformed(what string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	failed := newError(CodeProtocol, "the agent sent %s that is malformed (number %d of its answer): %s",
		what, p.taken, clean(f.Detail, maxExcerpt))
	failed.Cause = err
	return failed
}
