package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// adkReader turns the stream of a run into events. Partial events are deltas of an
// item, which the event with the whole content completes.
type adkReader struct {
	out      *producer
	session  string // of ADK's, in which the agent runs
	redact   func(string) string
	artifact func(name, version string) ([]byte, error)

	waiting map[string]bool // long-running calls without a response
	speaker *adkOutput      // of the item in progress, or nil
	parts   []bool          // of the item: whether they are thoughts
	held    []*adkOutput    // that came while an item of another agent was in progress
	size    int             // of those, in bytes
	failed  *adkOutput      // an error that may be the run's
	last    string          // id of the last whole event
}

// readStream reads events up to the end of the stream.
func (r *adkReader) readStream(body io.Reader) error {
	err := readStream(body, func(_, data string) error { return r.take([]byte(data)) })
	if err != nil && !errors.Is(err, errEndedEarly) {
		return err
	}
	switch {
	case r.speaker != nil: // ADK sends the whole event after its pieces
		return err
	case r.failed != nil:
		return r.failed.problem(r.redact)
	}
	return r.out.finish()
}

func (r *adkReader) take(raw []byte) error {
	r.out.taken++
	o, err := adkOutputOf(raw)
	if err != nil {
		return r.out.malformed("an event", err)
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
func (r *adkReader) partial(o *adkOutput) error {
	if r.speaker != nil && !o.sameSpeaker(r.speaker) {
		return nil
	}
	for _, p := range o.Content.Parts {
		if p.Text == "" {
			continue
		}
		if err := r.say(o, p.Thought, p.Text); err != nil {
			return err
		}
	}
	return nil
}

func (r *adkReader) say(o *adkOutput, thought bool, text string) error {
	if r.speaker == nil {
		item := run.ItemStart{ID: o.ID, Author: o.Author, Role: o.Content.Role}
		if o.ID == r.last {
			item.ID = ""
		}
		if err := r.out.begin(item); err != nil {
			return err
		}
		r.speaker, r.parts = o, nil
	}
	if len(r.parts) == 0 || r.parts[len(r.parts)-1] != thought {
		r.parts = append(r.parts, thought)
	}
	return r.out.delta(run.Delta{Part: len(r.parts) - 1, Thought: thought, Text: text})
}

// hold keeps an event until the item in progress is complete.
func (r *adkReader) hold(o *adkOutput) error {
	r.held = append(r.held, o)
	for _, raw := range o.members {
		r.size += len(raw)
	}
	if len(r.held) > run.MaxItems || r.size > maxAnswer {
		return newError(run.CodeLimit, "the agent sent events of more than %d bytes while another spoke", maxAnswer)
	}
	return nil
}

// store stores a whole event, which completes the item in progress if there is one.
func (r *adkReader) store(o *adkOutput) error {
	if o.empty() {
		return nil
	}
	for _, id := range o.LongRunning {
		r.waiting[id] = true
	}
	for _, p := range o.Content.Parts {
		if p.Response != nil {
			delete(r.waiting, p.Response.ID)
		}
	}
	id := o.ID
	if r.speaker != nil || id == r.last || fault.CheckNewID("", id) != nil {
		id = "" // the item's, or the store's
	}
	r.speaker, r.last = nil, o.ID
	raw, err := o.event(id, r.session)
	if err != nil {
		return err
	}
	if err := r.out.event(raw); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Actions.Artifacts)) {
		if err := r.keep(o, name, o.Actions.Artifacts[name]); err != nil {
			return err
		}
	}
	return nil
}

// keep stores an artifact as an event with its content.
func (r *adkReader) keep(o *adkOutput, name string, version json.Number) error {
	text, err := r.artifact(name, version.String())
	if err != nil && !errors.Is(err, errNotFound) {
		return err
	}
	var part contentMember
	raw := adkSnake(text)
	if !json.Valid(bytes.TrimSpace(raw)) || json.Unmarshal(raw, &part) != nil || len(raw) > MaxEvent/2 {
		part = contentMember{}
	}
	content, err := jsonx.Marshal(map[string]any{"role": "model", "parts": []json.RawMessage{artifactPart(part, raw, name, version)}})
	if err != nil {
		return err
	}
	event, err := jsonx.Marshal(map[string]any{
		"author": o.Author, "content": json.RawMessage(content),
		adkMember: adkRecord{Artifact: &adkArtifact{Name: name, Version: version}},
	})
	if err != nil {
		return err
	}
	return r.out.event(event)
}
