package responses

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// inputItem is one item of a request's input. The API has many kinds, and those of
// a provider's own are passed on as they came.
type inputItem map[string]any

// inputPart is one part of a message.
type inputPart map[string]any

func messageOf(role string, parts []inputPart) inputItem {
	return inputItem{"type": messageItem, "role": role, "content": parts}
}

// inputs builds the items of a request. The API requires an output for every
// function call and no output without a call. A session need not satisfy that, so
// inputs adds and drops outputs.
type inputs struct {
	model string
	items []inputItem
	open  []transcript.OpenCall
	calls int
	// interrupted is what was said of the answer to the last message, if the worker
	// was lost.
	interrupted transcript.Interruption
}

// inputOf returns a request's history as input items. Events without content are
// left out, and so is thinking, except what the model itself encrypted.
func inputOf(model string, req run.Request) []inputItem {
	in := inputs{model: model, items: []inputItem{}}
	for _, e := range req.Events {
		in.add(e)
	}
	in.closeCalls()
	in.interrupted = transcript.InterruptionOf(req)
	for _, e := range req.Said {
		in.add(e)
	}
	in.closeCalls()
	return in.items
}

// said is one event's part of the input. The outputs of functions are not in it,
// because they are items of their own before it.
type said struct {
	assistant bool
	system    string      // the role of a user's event with instructions
	items     []inputItem // in the order of the content
	parts     []inputPart // of the message that is not in items yet
	texts     []inputPart // all of them
	calls     []inputItem // all of them
	open      []transcript.OpenCall
}

func (in *inputs) add(e session.Event) {
	c := transcript.ContentOf(e)
	s := said{assistant: c.FromModel(e), system: c.InstructionsRole(e)}
	for _, p := range c.Parts {
		in.addPart(&s, p)
	}
	s.endMessage()
	items := s.items
	if restored, ok := recordOf(e, in.model).restore(s.texts, s.calls); ok && len(restored) > 0 {
		items = restored
	}
	if len(items) == 0 {
		return
	}
	in.closeCalls()
	in.items, in.open = append(in.items, items...), s.open
}

func (in *inputs) addPart(s *said, p transcript.Part) {
	switch {
	case p.Thought:
	case p.Text != nil:
		s.text(*p.Text)
	case p.Call != nil && s.assistant:
		in.addCall(s, p)
	case p.Response != nil && in.answer(p.Response.ID, p.Response.Name, p.Response.Response):
	case p.Response != nil:
		s.text(fmt.Sprintf("[response of %s: %s]", p.Response.Name, p.Response.Response))
	case s.assistant || s.system != "" || !s.attach(p):
		s.text(p.InWords())
	}
}

// attach adds an image or a document of the user's; it reports whether the part is one.
func (s *said) attach(p transcript.Part) bool {
	types := transcript.Documents()
	if url := p.Image(); url != "" {
		s.parts = append(s.parts, inputPart{"type": "input_image", "image_url": url})
	} else if name, data, ok := p.Document(types...); ok {
		s.parts = append(s.parts, inputPart{"type": "input_file", "filename": name, "file_data": data})
	} else if url := p.DocumentAddress(types...); url != "" {
		s.parts = append(s.parts, inputPart{"type": "input_file", "file_url": url})
	} else {
		return false
	}
	return true
}

func (s *said) text(text string) {
	if text == "" {
		return
	}
	kind := "input_text"
	if s.assistant {
		kind = "output_text"
	}
	part := inputPart{"type": kind, "text": text}
	s.parts, s.texts = append(s.parts, part), append(s.texts, part)
}

// endMessage makes an item of the parts so far.
func (s *said) endMessage() {
	if len(s.parts) == 0 {
		return
	}
	role := "user"
	switch {
	case s.assistant:
		role = "assistant"
	case s.system != "":
		role = s.system
	}
	s.items, s.parts = append(s.items, messageOf(role, s.parts)), nil
}

func (in *inputs) addCall(s *said, p transcript.Part) {
	s.endMessage()
	in.calls++
	id, arguments := p.Call.ID, "{}"
	if id == "" {
		id = fmt.Sprintf("call_%d", in.calls)
	}
	if !jsonx.IsNull(p.Call.Args) {
		arguments = string(p.Call.Args)
	}
	call := inputItem{"type": callItem, "call_id": id, "name": p.Call.Name, "arguments": arguments}
	s.items, s.calls = append(s.items, call), append(s.calls, call)
	s.open = append(s.open, transcript.OpenCall{ID: id, Name: p.Call.Name, Generated: p.Call.ID == ""})
}

// answer adds a function's output if the matching call is open.
func (in *inputs) answer(id, name string, response json.RawMessage) bool {
	at := transcript.FindCall(in.open, id, name)
	if at < 0 {
		return false
	}
	if jsonx.IsNull(response) {
		response = json.RawMessage("{}")
	}
	in.output(in.open[at].ID, string(response))
	in.open = append(in.open[:at:at], in.open[at+1:]...)
	return true
}

func (in *inputs) output(id, text string) {
	in.items = append(in.items, inputItem{"type": "function_call_output", "call_id": id, "output": text})
}

// closeCalls answers the calls that are still open when the conversation continues.
func (in *inputs) closeCalls() {
	for _, call := range in.open {
		in.output(call.ID, in.interrupted.ResultOf(call))
	}
	in.open = nil
}
