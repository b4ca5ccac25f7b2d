package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// maxRole is the maximum length of a content's role, in characters.
const maxRole = 32

// checkItem returns an error for the member of an item that breaks a rule.
func checkItem(i run.ItemStart) error {
	if i.ID != "" {
		if err := ids.CheckNew("/id", i.ID); err != nil {
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

func (p *Producer) count() error {
	if p.items++; p.items > run.MaxItems {
		return endpoint.NewError(run.CodeLimit, "the agent produced more than %d items", run.MaxItems)
	}
	return nil
}

// parse returns an event as the session will store it: whatever the agent's
// invocation is, the event belongs to this run.
func (p *Producer) parse(raw json.RawMessage) (session.Event, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return session.Event{}, fault.New(fault.Malformed, "must be an object")
	}
	if flaw := jsonx.CheckInner(raw); flaw != nil {
		return session.Event{}, fault.Field(fault.Invalid, flaw.Pointer, "%s", flaw.Reason)
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
	e, err := session.ParseEvent(whole, "")
	if err != nil {
		return session.Event{}, err
	}
	return e, e.CheckNew("")
}

// Malformed returns the error for a part of the answer that breaks a rule, with its
// position.
func (p *Producer) Malformed(what string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	failed := endpoint.NewError(endpoint.CodeProtocol, "the agent sent %s that is malformed (number %d of its answer): %s",
		what, p.taken, endpoint.Excerpt(f.Detail))
	failed.Cause = err
	return failed
}
