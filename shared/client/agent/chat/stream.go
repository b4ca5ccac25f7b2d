package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
)

// reader turns chunks of a completion into one item.
type reader struct {
	out     *output.Producer
	redact  func(string) string
	parts   int
	thought int // index of the part with thinking, -1 before it begins
	text    int // index of the part with text, -1 before it begins
	refusal int // index of the part with the model's refusal, -1 before it begins
	calls   []call
	record  record
	reason  string
	usage   json.RawMessage
}

// newReader returns a reader of the completion of a model; redact removes
// secrets from the provider's errors.
func newReader(out *output.Producer, model string, redact func(string) string) *reader {
	return &reader{
		out: out, redact: redact, thought: -1, text: -1, refusal: -1, record: record{Model: model},
	}
}

// ReadStream reads chunks up to "[DONE]". Some servers do not send it; then a finish
// reason is required.
func (r *reader) readStream(body io.Reader) error {
	err := endpoint.ReadStream(body, func(kind, data string) error {
		switch {
		case data == "[DONE]":
			return endpoint.ErrStop
		case data == "" || kind == "ping":
			return nil
		case kind == "error":
			return provider.Error([]byte(data), r.redact)
		}
		return r.take([]byte(data))
	})
	if err != nil && (!errors.Is(err, endpoint.ErrEndedEarly) || r.reason == "") {
		return err
	}
	return r.finish()
}

// readWhole reads the answer of a server that does not stream.
func (r *reader) readWhole(body io.Reader) error {
	text, err := endpoint.ReadDocument(body)
	if err != nil {
		return err
	}
	if err := r.take(text); err != nil {
		return err
	}
	return r.finish()
}

func (r *reader) take(raw []byte) error {
	r.out.Next()
	var c completion
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return r.out.Malformed("a chunk", fault.New(fault.Malformed, "must be an object"))
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return r.out.Malformed("a chunk", fault.New(fault.Malformed, "must have members of the types that chat completions have"))
	}
	if !jsonx.IsNull(c.Error) {
		return provider.Error(c.Error, r.redact)
	}
	if !jsonx.IsNull(c.Usage) {
		r.usage = c.Usage
	}
	if len(c.Choices) == 0 {
		return nil
	}
	first := c.Choices[0]
	if first.FinishReason != "" {
		r.reason = first.FinishReason
	}
	if err := r.add(first.Message); err != nil {
		return err
	}
	return r.add(first.Delta)
}

func (r *reader) add(d delta) error {
	thought, member := d.thinking()
	if r.record.Reasoning == "" {
		r.record.Reasoning = member
	}
	r.record.ReasoningDetails = append(r.record.ReasoningDetails, d.ReasoningDetails...)
	r.record.Content = append(r.record.Content, d.Content.others...)
	if err := r.say(&r.thought, content.Delta{Thought: true, Text: thought}); err != nil {
		return err
	}
	if err := r.say(&r.text, content.Delta{Text: d.Content.text}); err != nil {
		return err
	}
	if err := r.say(&r.refusal, content.Delta{Text: d.Content.refusal + d.Refusal}); err != nil {
		return err
	}
	for _, call := range d.ToolCalls {
		if err := r.call(call); err != nil {
			return err
		}
	}
	return nil
}

// say appends to the part of thinking or of text, and begins it if necessary.
func (r *reader) say(part *int, d content.Delta) error {
	if d.Text == "" {
		return nil
	}
	if *part < 0 {
		*part = r.next()
	}
	d.Part = *part
	return r.out.Delta(d)
}

func (r *reader) next() int {
	r.parts++
	return r.parts - 1
}

// finish completes the item, with what the server reported about the answer.
func (r *reader) finish() error {
	if !r.out.Busy() { // the model may have nothing to say, or may be filtered
		if err := r.out.Begin(run.ItemStart{}); err != nil {
			return err
		}
	}
	members := map[string]any{}
	if r.reason != "" {
		members["finish_reason"] = r.reason
	}
	if r.usage != nil {
		members["usage_metadata"] = r.usage
	}
	if r.refusal >= 0 {
		members["refusal"] = true
	}
	if record := r.recorded(); !record.isEmpty() {
		members[recordMember] = record
	}
	raw, err := jsonx.Marshal(members)
	if err != nil {
		return fmt.Errorf("encode the members of the completion: %w", err)
	}
	if err := r.out.Event(raw); err != nil {
		return err
	}
	return r.out.Finish()
}
