// Package transcript reads the events of a request, which have contents as ADK defines
// them, for agents that get another form.
package transcript

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Content is the part of an event's content that a chat can represent.
type Content struct {
	Role  string
	Parts []Part
}

// Part is a part of a content, of the shapes that agents can be sent; several members may
// be set. Of a part of another shape none is, and InWords describes it by its JSON.
type Part struct{ content.Part }

// ContentOf returns an event's content; none for an event without one. What is no list of
// parts is one part, and what is no role is none, so that no event ends the runs after it.
func ContentOf(e session.Event) Content {
	c, _ := content.Parse(e.Fields["content"])
	out := Content{Role: c.Role, Parts: make([]Part, len(c.Parts))}
	for i, p := range c.Parts {
		if p.Call != nil && p.Call.Name == "" || p.Inline != nil && !content.IsBase64(p.Inline.Data) {
			p = p.Unknown()
		}
		if p.Call != nil {
			p.Call.Args = ObjectOr(p.Call.Args, "args")
		}
		out.Parts[i] = Part{p}
	}
	return out
}

// FromModel reports whether the content is a model's.
func (c Content) FromModel(e session.Event) bool {
	return c.Role == "model" || c.Role == "assistant" || c.Role == "" && e.Author != "user"
}

// InstructionsRole returns the role of a user's event that instructs the model, "system"
// or "developer"; "" for any other event.
func (c Content) InstructionsRole(e session.Event) string {
	if e.Author == "user" && (c.Role == "system" || c.Role == "developer") {
		return c.Role
	}
	return ""
}

// ObjectOr returns a value that must be an object: another value becomes its member.
func ObjectOr(raw json.RawMessage, member string) json.RawMessage {
	switch {
	case jsonx.IsNull(raw):
		return json.RawMessage("{}")
	case jsonx.IsObject(raw):
		return raw
	}
	return json.RawMessage(`{"` + member + `":` + string(raw) + `}`)
}

// InWords describes a part that a model cannot be sent: a part of an unknown shape
// by its JSON. A file of text is followed by its text.
func (p Part) InWords() string {
	text, isText := p.attachedText()
	switch {
	case isText:
		return strings.TrimSpace("[attached: "+p.Inline.MIMEType+" "+p.Inline.Name) + "]\n" + text
	case p.Inline != nil:
		return strings.TrimSpace("[attached: "+p.Inline.MIMEType+" "+p.Inline.Name) + "]"
	case p.File != nil:
		return strings.TrimSpace("[file: "+p.File.MIMEType+" "+p.File.URI) + "]"
	}
	return string(p.Raw())
}

// OpenCall is a function call that has no response yet.
type OpenCall struct {
	ID, Name  string
	Generated bool // the session's call has no id, so this one was generated
}

// noResult answers a call that has no answer when the conversation continues.
const noResult = `{"error":"the call got no response"}`

// FindCall returns the index of the open call that a response belongs to: the call
// with the same id or, if either has none, with the same name; -1 for none.
func FindCall(open []OpenCall, id, name string) int {
	for i, call := range open {
		byName := (id == "" || call.Generated) && call.Name == name
		if call.ID == id || byName {
			return i
		}
	}
	return -1
}

// CurrentState returns the state as of the run's input, with the changes of what earlier
// workers of the run have said.
func CurrentState(req run.Request) session.Values {
	state := session.Values{}
	maps.Copy(state, req.State)
	for _, e := range req.Said {
		state.Apply(e.StateDelta)
	}
	return state
}
