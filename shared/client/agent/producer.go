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

// MaxEvent is the largest whole event an agent may send, in bytes of JSON.
const MaxEvent = run.MaxItem

// maxRole is the longest role of a content, in characters.
const maxRole = 32

// nameless is the author of what an agent without a name produces.
const nameless = "agent"

// producer turns what an agent sends into outputs that keep the
// promises of this package: it checks everything, fills in what was left out,
// and completes items that the agent only left behind.
type producer struct {
	runID  string
	author string // of what names none
	emit   func(run.Output) error

	item    *run.ItemStart // in progress, or nil
	content *run.Content
	items   int // that were begun or came whole
	taken   int // events of the answer, the present one included
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
	begun := item // the receiver's from now on
	return p.emit(run.Output{Item: &begun})
}

// checkItem says which member of an item breaks a rule.
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

// event takes a whole event. It completes the item in progress if it has that
// item's id or none; otherwise it stands for itself, after that item.
func (p *producer) event(raw json.RawMessage) error {
	if len(raw) > MaxEvent {
		return newError(run.CodeLimit, "the agent sent an event of more than %d bytes", MaxEvent)
	}
	e, err := p.parse(raw)
	if err != nil {
		return p.malformed("an event", err)
	}
	switch {
	case e.Partial: // news of what a later event tells whole
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

// parse reads an event as the session will keep it: whatever invocation the
// agent knows, the event belongs to this run.
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

// complete completes the item in progress, if there is one: as the event says,
// or as its deltas made it.
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

// finish completes the last item once the agent is done.
func (p *producer) finish() error {
	if err := p.complete(nil); err != nil {
		return err
	}
	if p.items == 0 {
		return newError(CodeProtocol, "the agent was done without having produced anything")
	}
	return nil
}

// malformed names what an agent sent that breaks a rule, and where.
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
