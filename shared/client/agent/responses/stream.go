package responses

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/domain/content"
)

// Kinds of parts of a response's item.
const (
	textPart    = "text"
	refusalPart = "refusal"
	summaryPart = "summary"
	thoughtPart = "reasoning"
	callPart    = "call"
)

// partKey identifies a part of a response.
type partKey struct {
	item  int
	kind  string
	index int
}

// reader turns a response into one item.
type reader struct {
	out     *output.Producer
	redact  func(string) string
	parts   map[partKey]int // index in the content
	record  record
	hasArgs map[int]bool // of calls, by item
	refused bool
	done    *response
}

// newReader returns a reader of the response of a model; redact removes
// secrets from the provider's errors.
func newReader(out *output.Producer, model string, redact func(string) string) *reader {
	return &reader{
		out: out, redact: redact, parts: map[partKey]int{}, hasArgs: map[int]bool{},
		record: record{Model: model, Items: []recordItem{}},
	}
}

// ReadStream reads events up to the one with the whole response.
func (r *reader) readStream(body io.Reader) error {
	err := endpoint.ReadStream(body, func(_, data string) error {
		if data == "" || data == "[DONE]" {
			return nil
		}
		if err := r.take([]byte(data)); err != nil {
			return err
		}
		if r.done != nil {
			return endpoint.ErrStop
		}
		return nil
	})
	if err != nil {
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
	r.out.Next()
	whole := &response{}
	if err := r.parse(text, whole); err != nil {
		return err
	}
	if err := r.end(whole); err != nil {
		return err
	}
	return r.finish()
}

func (r *reader) parse(raw []byte, into any) error {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return r.out.Malformed("an event", fault.New(fault.Malformed, "must be an object"))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return r.out.Malformed("an event", fault.New(fault.Malformed, "must have members of the types that the Responses API has"))
	}
	return nil
}

// take handles one event of a stream.
func (r *reader) take(raw []byte) error {
	r.out.Next()
	var e event
	if err := r.parse(raw, &e); err != nil {
		return err
	}
	at := func(kind string, index int) partKey { return partKey{e.OutputIndex, kind, index} }
	switch e.Type {
	case "response.output_text.delta":
		return r.say(at(textPart, e.ContentIndex), content.Delta{Text: e.Delta})
	case "response.refusal.delta":
		return r.say(at(refusalPart, e.ContentIndex), content.Delta{Text: e.Delta})
	case "response.reasoning_text.delta":
		return r.say(at(thoughtPart, e.ContentIndex), content.Delta{Thought: true, Text: e.Delta})
	case "response.reasoning_summary_text.delta":
		return r.say(at(summaryPart, e.SummaryIndex), content.Delta{Thought: true, Text: e.Delta})
	case "response.function_call_arguments.delta":
		return r.say(at(callPart, 0), content.Delta{Call: &content.CallDelta{ArgsText: e.Delta}})
	case "response.output_item.added":
		return r.added(e.OutputIndex, e.Item)
	case "response.output_item.done":
		return r.itemDone(e.OutputIndex, e.Item)
	case "response.completed", "response.incomplete", "response.failed":
		return r.end(e.Response)
	case "error":
		return provider.Error(raw, r.redact)
	}
	return nil
}

// say appends to a part, and begins it if necessary.
func (r *reader) say(key partKey, d content.Delta) error {
	at, begun := r.parts[key]
	switch {
	case d.Call == nil && d.Text == "":
		return nil
	case !begun && d.Call != nil && d.Call.Name == "":
		return r.out.Malformed("an event", fault.New(fault.Malformed, "arguments of a function call that has not begun"))
	case !begun:
		at = len(r.parts)
		r.parts[key] = at
	}
	r.hasArgs[key.item] = r.hasArgs[key.item] || d.Call != nil && d.Call.ArgsText != ""
	r.refused = r.refused || key.kind == refusalPart
	d.Part = at
	return r.out.Delta(d)
}
