package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// responseEvent is one event of a streamed response. Events of other types, such as
// those about a provider's own tools, are ignored.
type responseEvent struct {
	Type         string          `json:"type"`
	OutputIndex  int             `json:"output_index"`
	ContentIndex int             `json:"content_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        string          `json:"delta"`
	Item         json.RawMessage `json:"item"`
	Response     *response       `json:"response"`
}

// response is a whole response, or the end of a streamed one.
type response struct {
	Status            string            `json:"status"`
	Output            []json.RawMessage `json:"output"`
	Usage             json.RawMessage   `json:"usage"`
	Error             json.RawMessage   `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

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

// responseReader turns a response into one item.
type responseReader struct {
	out     *producer
	redact  func(string) string
	parts   map[partKey]int // index in the content
	record  responseRecord
	hasArgs map[int]bool // of calls, by item
	refused bool
	done    *response
}

// newResponseReader returns a reader of the response of a model; redact removes
// secrets from the provider's errors.
func newResponseReader(out *producer, model string, redact func(string) string) *responseReader {
	return &responseReader{
		out: out, redact: redact, parts: map[partKey]int{}, hasArgs: map[int]bool{},
		record: responseRecord{Model: model, Items: []recordItem{}},
	}
}

// readStream reads events up to the one with the whole response.
func (r *responseReader) readStream(body io.Reader) error {
	err := readStream(body, func(_, data string) error {
		if data == "" || data == "[DONE]" {
			return nil
		}
		if err := r.take([]byte(data)); err != nil {
			return err
		}
		if r.done != nil {
			return errStop
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.finish()
}

// readWhole reads the answer of a server that does not stream.
func (r *responseReader) readWhole(body io.Reader) error {
	text, err := readDocument(body)
	if err != nil {
		return err
	}
	r.out.taken++
	whole := &response{}
	if err := r.parse(text, whole); err != nil {
		return err
	}
	if err := r.end(whole); err != nil {
		return err
	}
	return r.finish()
}

func (r *responseReader) parse(raw []byte, into any) error {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return r.out.malformed("an event", fault.New(fault.Malformed, "must be an object"))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return r.out.malformed("an event", fault.New(fault.Malformed, "must have members of the types that the Responses API has"))
	}
	return nil
}

// take handles one event of a stream.
func (r *responseReader) take(raw []byte) error {
	r.out.taken++
	var e responseEvent
	if err := r.parse(raw, &e); err != nil {
		return err
	}
	at := func(kind string, index int) partKey { return partKey{e.OutputIndex, kind, index} }
	switch e.Type {
	case "response.output_text.delta":
		return r.say(at(textPart, e.ContentIndex), run.Delta{Text: e.Delta})
	case "response.refusal.delta":
		return r.say(at(refusalPart, e.ContentIndex), run.Delta{Text: e.Delta})
	case "response.reasoning_text.delta":
		return r.say(at(thoughtPart, e.ContentIndex), run.Delta{Thought: true, Text: e.Delta})
	case "response.reasoning_summary_text.delta":
		return r.say(at(summaryPart, e.SummaryIndex), run.Delta{Thought: true, Text: e.Delta})
	case "response.function_call_arguments.delta":
		return r.say(at(callPart, 0), run.Delta{Call: &run.Call{ArgsText: e.Delta}})
	case "response.output_item.added":
		return r.added(e.OutputIndex, e.Item)
	case "response.output_item.done":
		return r.itemDone(e.OutputIndex, e.Item)
	case "response.completed", "response.incomplete", "response.failed":
		return r.end(e.Response)
	case "error":
		return chatError(raw, r.redact)
	}
	return nil
}

// say appends to a part, and begins it if necessary.
func (r *responseReader) say(key partKey, d run.Delta) error {
	at, begun := r.parts[key]
	switch {
	case d.Call == nil && d.Text == "":
		return nil
	case !begun && d.Call != nil && d.Call.Name == "":
		return r.out.malformed("an event", fault.New(fault.Malformed, "arguments of a function call that has not begun"))
	case !begun:
		at = len(r.parts)
		r.parts[key] = at
	}
	r.hasArgs[key.item] = r.hasArgs[key.item] || d.Call != nil && d.Call.ArgsText != ""
	r.refused = r.refused || key.kind == refusalPart
	d.Part = at
	return r.out.delta(d)
}

// end handles the end of a response. A server that does not stream, or that leaves
// out events, has the items only here.
func (r *responseReader) end(whole *response) error {
	if whole == nil {
		return r.out.malformed("an event", fault.New(fault.Malformed, "response is required"))
	}
	if !jsonx.IsNull(whole.Error) || whole.Status == "failed" {
		return chatError(whole.Error, r.redact)
	}
	for i, item := range whole.Output {
		if i < len(r.record.Items) {
			continue
		}
		if err := r.itemDone(i, item); err != nil {
			return err
		}
	}
	r.done = whole
	return nil
}

// finish completes the item, with what the server reported about the response.
func (r *responseReader) finish() error {
	if r.out.item == nil { // the model may have nothing to say
		if err := r.out.begin(run.ItemStart{}); err != nil {
			return err
		}
	}
	members := map[string]any{"finish_reason": "stop"}
	if reason := r.done.IncompleteDetails.Reason; reason != "" {
		members["finish_reason"] = reason
	}
	if !jsonx.IsNull(r.done.Usage) {
		members["usage_metadata"] = r.done.Usage
	}
	if r.refused {
		members["refusal"] = true
	}
	if r.record.isNeeded() {
		members[responsesMember] = r.record
	}
	raw, err := jsonx.Marshal(members)
	if err != nil {
		return fmt.Errorf("encode the members of the response: %w", err)
	}
	if err := r.out.event(raw); err != nil {
		return err
	}
	return r.out.finish()
}
