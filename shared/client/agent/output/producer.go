// Package output checks what agents say and turns it into the outputs of a run.
package output

import (
	"cmp"
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// MaxEvent is the maximum size of a whole event that an agent sends, in bytes of
// JSON.
const MaxEvent = run.MaxItem

// nameless is the author of output of an agent without a name.
const nameless = "agent"

// Producer turns an agent's answer into outputs that satisfy the contract of this
// package: it checks everything, adds missing values, and completes items that the
// agent did not complete.
type Producer struct {
	runID  string
	author string // of events without an author
	emit   func(run.Output) error

	item    *run.ItemStart // in progress, or nil
	content *content.Draft
	items   int // begun or received whole
	taken   int // events of the answer, including the current one
}

// New returns a producer for a run, which passes its outputs to emit.
func New(req run.Request, emit func(run.Output) error) *Producer {
	return &Producer{runID: req.RunID, author: AuthorOf(req), emit: emit}
}

// AuthorOf returns the author of a request's output that names none.
func AuthorOf(req run.Request) string { return cmp.Or(req.Agent, nameless) }

// Busy reports whether an item is in progress.
func (p *Producer) Busy() bool { return p.item != nil }

// Items returns the number of items that were begun or received whole.
func (p *Producer) Items() int { return p.items }

// Next counts the events of the answer: the next one is handled from now on.
func (p *Producer) Next() { p.taken++ }

// Position returns the number of the event that is handled, from 1 on.
func (p *Producer) Position() int { return p.taken }

// Begin begins an item and completes the one before it.
func (p *Producer) Begin(item run.ItemStart) error {
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
		return p.Malformed("an item", err)
	}
	if err := p.count(); err != nil {
		return err
	}
	p.item, p.content = &item, content.NewDraft(item.Role)
	begun := item // the receiver owns it from now on
	return p.emit(run.Output{Item: &begun})
}

// Delta appends to the item in progress, or to a new one if there is none.
func (p *Producer) Delta(d content.Delta) error {
	if p.item == nil {
		if err := p.Begin(run.ItemStart{}); err != nil {
			return err
		}
	}
	if p.content.Size()+d.Size() > run.MaxItem {
		return endpoint.NewError(run.CodeLimit, "the agent produced an item of more than %d bytes", run.MaxItem)
	}
	if err := p.content.Append(d, ""); err != nil {
		return p.Malformed("a delta", err)
	}
	return p.emit(run.Output{Delta: &d})
}

// Event handles a whole event. It completes the item in progress if it has that
// item's id or none; otherwise it is an event of its own after that item.
func (p *Producer) Event(raw json.RawMessage) error {
	if len(raw) > MaxEvent {
		return endpoint.NewError(run.CodeLimit, "the agent sent an event of more than %d bytes", MaxEvent)
	}
	e, err := p.parse(raw)
	if err != nil {
		return p.Malformed("an event", err)
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

// complete completes the item in progress, if there is one, with the event's content
// or else with its deltas'.
func (p *Producer) complete(e *session.Event) error {
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
			failed := endpoint.NewError(run.CodeContent, "the agent completed an item that is not whole")
			return failed.Because(err)
		}
		if e.Fields == nil {
			e.Fields = map[string]json.RawMessage{}
		}
		e.Fields["content"] = content
	}
	p.item, p.content = nil, nil
	return p.emit(run.Output{Event: e, Completes: true})
}

// Finish completes the last item when the agent is done.
func (p *Producer) Finish() error {
	if err := p.complete(nil); err != nil {
		return err
	}
	if p.items == 0 {
		return endpoint.NewError(endpoint.CodeProtocol, "the agent was done without having produced anything")
	}
	return nil
}
