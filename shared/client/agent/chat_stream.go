package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// completion is one chunk of a completion, or a whole one.
type completion struct {
	Choices []struct {
		Delta        chatDelta `json:"delta"`
		Message      chatDelta `json:"message"` // instead of delta in a whole completion
		FinishReason string    `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// chatDelta is what a chunk adds, or a whole message. Thinking is not part of
// OpenAI's API: DeepSeek and vLLM call it reasoning_content, OpenRouter reasoning,
// and some servers send both with the same text.
type chatDelta struct {
	Content          chatContent       `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        string            `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []toolCall        `json:"tool_calls"`
}

// thinking returns the thinking and the member that contains it; "" for a part of
// the content.
func (d chatDelta) thinking() (text, member string) {
	switch {
	case d.ReasoningContent != "":
		return d.ReasoningContent, "reasoning_content"
	case d.Reasoning != "":
		return d.Reasoning, "reasoning"
	}
	return d.Content.thought, ""
}

// chatReader turns chunks of a completion into one item.
type chatReader struct {
	out     *producer
	redact  func(string) string
	parts   int
	thought int // index of the part with thinking, -1 before it begins
	text    int // index of the part with text, -1 before it begins
	refusal int // index of the part with the model's refusal, -1 before it begins
	calls   []chatCall
	record  chatRecord
	reason  string
	usage   json.RawMessage
}

// chatCall is a function call of the model.
type chatCall struct {
	index, part int
	id          string
	extra       map[string]json.RawMessage
}

// newChatReader returns a reader of the completion of a model; redact removes
// secrets from the provider's errors.
func newChatReader(out *producer, model string, redact func(string) string) *chatReader {
	return &chatReader{
		out: out, redact: redact, thought: -1, text: -1, refusal: -1, record: chatRecord{Model: model},
	}
}

// readStream reads chunks up to "[DONE]". Some servers do not send it; then a finish
// reason is required.
func (r *chatReader) readStream(body io.Reader) error {
	err := readStream(body, func(kind, data string) error {
		switch {
		case data == "[DONE]":
			return errStop
		case data == "" || kind == "ping":
			return nil
		case kind == "error":
			return chatError([]byte(data), r.redact)
		}
		return r.take([]byte(data))
	})
	if err != nil && (!errors.Is(err, errEndedEarly) || r.reason == "") {
		return err
	}
	return r.finish()
}

// readWhole reads the answer of a server that does not stream.
func (r *chatReader) readWhole(body io.Reader) error {
	text, err := readDocument(body)
	if err != nil {
		return err
	}
	if err := r.take(text); err != nil {
		return err
	}
	return r.finish()
}

func (r *chatReader) take(raw []byte) error {
	r.out.taken++
	var c completion
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return r.out.malformed("a chunk", fault.New(fault.Malformed, "must be an object"))
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return r.out.malformed("a chunk", fault.New(fault.Malformed, "must have members of the types that chat completions have"))
	}
	if !jsonx.IsNull(c.Error) {
		return chatError(c.Error, r.redact)
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

func (r *chatReader) add(d chatDelta) error {
	thought, member := d.thinking()
	if r.record.Reasoning == "" {
		r.record.Reasoning = member
	}
	r.record.ReasoningDetails = append(r.record.ReasoningDetails, d.ReasoningDetails...)
	r.record.Content = append(r.record.Content, d.Content.others...)
	if err := r.say(&r.thought, run.Delta{Thought: true, Text: thought}); err != nil {
		return err
	}
	if err := r.say(&r.text, run.Delta{Text: d.Content.text}); err != nil {
		return err
	}
	if err := r.say(&r.refusal, run.Delta{Text: d.Content.refusal + d.Refusal}); err != nil {
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
func (r *chatReader) say(part *int, d run.Delta) error {
	if d.Text == "" {
		return nil
	}
	if *part < 0 {
		*part = r.next()
	}
	d.Part = *part
	return r.out.delta(d)
}

func (r *chatReader) next() int {
	r.parts++
	return r.parts - 1
}

// call appends to a function call. Servers differ: some leave the index out or send
// the same one for every call, some repeat id and name in each piece.
func (r *chatReader) call(c toolCall) error {
	args := &run.Call{ArgsText: c.Function.Arguments}
	at := r.find(c)
	if at < 0 {
		args.ID, args.Name = c.ID, c.Function.Name
		begun := chatCall{index: len(r.calls), part: r.next(), id: c.ID, extra: map[string]json.RawMessage{}}
		if c.Index != nil {
			begun.index = *c.Index
		}
		r.calls = append(r.calls, begun)
		at = len(r.calls) - 1
	}
	maps.Copy(r.calls[at].extra, c.extra)
	return r.out.delta(run.Delta{Part: r.calls[at].part, Call: args})
}

// recorded returns the record of the completion with what its calls have.
func (r *chatReader) recorded() chatRecord {
	out := r.record
	extras := make([]map[string]json.RawMessage, len(r.calls))
	for i, call := range r.calls {
		if extras[i] = call.extra; len(call.extra) > 0 {
			out.ToolCalls = extras
		}
	}
	return out
}

// find returns the index of the call that a piece continues, -1 if it begins a new
// one.
func (r *chatReader) find(c toolCall) int {
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

// finish completes the item, with what the server reported about the answer.
func (r *chatReader) finish() error {
	if r.out.item == nil { // the model may have nothing to say, or may be filtered
		if err := r.out.begin(run.ItemStart{}); err != nil {
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
		members[chatMember] = record
	}
	raw, err := jsonx.Marshal(members)
	if err != nil {
		return fmt.Errorf("encode the members of the completion: %w", err)
	}
	if err := r.out.event(raw); err != nil {
		return err
	}
	return r.out.finish()
}
