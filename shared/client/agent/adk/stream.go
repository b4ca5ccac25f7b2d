package adk

import (
	"errors"
	"io"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
)

// reader turns the stream of a run into events. Partial events are deltas of an
// item, which the event with the whole content completes.
type reader struct {
	out      *output.Producer
	session  string // of ADK's, in which the agent runs
	redact   func(string) string
	artifact func(name, version string) ([]byte, error)

	waiting map[string]bool // long-running calls without a response
	speaker *streamEvent    // of the item in progress, or nil
	parts   []bool          // of the item: whether they are thoughts
	held    []*streamEvent  // that came while an item of another agent was in progress
	size    int             // of those, in bytes
	failed  *streamEvent    // an error that may be the run's
	last    string          // id of the last whole event
}

// ReadStream reads events up to the end of the stream.
func (r *reader) readStream(body io.Reader) error {
	err := endpoint.ReadStream(body, func(_, data string) error { return r.take([]byte(data)) })
	if err != nil && !errors.Is(err, endpoint.ErrEndedEarly) {
		return err
	}
	switch {
	case r.speaker != nil: // ADK sends the whole event after its pieces
		return err
	case r.failed != nil:
		return r.failed.problem(r.redact)
	}
	return r.out.Finish()
}

func (r *reader) take(raw []byte) error {
	r.out.Next()
	o, err := parseEvent(raw)
	if err != nil {
		return r.out.Malformed("an event", err)
	}
	switch {
	case !jsonx.IsNull(o.Error):
		return o.problem(r.redact)
	case o.Partial:
		return r.partial(o)
	case r.speaker != nil && !o.completes(r.speaker):
		return r.hold(o)
	}
	if r.failed != nil { // the agent has gone on
		failed := r.failed
		r.failed = nil
		if err := r.store(failed); err != nil {
			return err
		}
	}
	if o.Code != "" && len(o.Content.Parts) == 0 {
		r.failed, r.speaker = o, nil
		return nil
	}
	if err := r.store(o); err != nil {
		return err
	}
	held := r.held
	r.held, r.size = nil, 0
	for _, o := range held {
		if err := r.store(o); err != nil {
			return err
		}
	}
	return nil
}

// partial appends the texts of a partial event. Of agents that speak at once only
// the first is shown while it speaks.
func (r *reader) partial(o *streamEvent) error {
	if r.speaker != nil && !o.sameSpeaker(r.speaker) {
		return nil
	}
	for _, p := range o.Content.Parts {
		if p.Text == nil || *p.Text == "" {
			continue
		}
		if err := r.say(o, p.Thought, *p.Text); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) say(o *streamEvent, thought bool, text string) error {
	if r.speaker == nil {
		item := run.ItemStart{ID: o.ID, Author: o.Author, Role: o.Content.Role}
		if !r.usable(o.ID) {
			item.ID = ""
		}
		if err := r.out.Begin(item); err != nil {
			return err
		}
		r.speaker, r.parts = o, nil
	}
	if len(r.parts) == 0 || r.parts[len(r.parts)-1] != thought {
		r.parts = append(r.parts, thought)
	}
	return r.out.Delta(content.Delta{Part: len(r.parts) - 1, Thought: thought, Text: text})
}

// hold keeps an event until the item in progress is complete.
func (r *reader) hold(o *streamEvent) error {
	r.held = append(r.held, o)
	for _, raw := range o.members {
		r.size += len(raw)
	}
	if len(r.held) > run.MaxItems || r.size > endpoint.MaxAnswer {
		return endpoint.NewError(run.CodeLimit, "the agent sent events of more than %d bytes while another spoke", endpoint.MaxAnswer)
	}
	return nil
}
