// Package transcript reads the events of a request, which have contents as ADK defines
// them, for agents that get another form.
package transcript

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Content is the part of an event's content that a chat can represent.
type Content struct {
	Role  string
	Parts []json.RawMessage
}

// Part is a part of a content, of the shapes that agents can be sent; several members may
// be set.
type Part struct {
	Text    *string `json:"text"`
	Thought bool    `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"function_call"`
	Response *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"function_response"`
	Inline *struct {
		MimeType string `json:"mime_type"`
		Name     string `json:"display_name"`
		Data     string `json:"data"`
	} `json:"inline_data"`
	File *struct {
		MimeType string `json:"mime_type"`
		Name     string `json:"display_name"`
		URI      string `json:"file_uri"`
	} `json:"file_data"`
}

// ContentOf returns an event's content; none for an event without one. Sessions keep
// contents of every shape: what are no parts is one part, and what is no role is none, so
// that no event ends the runs after it.
func ContentOf(e session.Event) Content {
	raw := e.Fields["content"]
	if jsonx.IsNull(raw) {
		return Content{}
	}
	var c struct{ Role, Parts json.RawMessage }
	if json.Unmarshal(raw, &c) != nil {
		return Content{Parts: []json.RawMessage{raw}} // no object
	}
	out := Content{Role: jsonx.Text(c.Role)}
	if parts, ok := jsonx.Elements(c.Parts); ok {
		out.Parts = parts
	} else if !jsonx.IsNull(c.Parts) {
		out.Parts = []json.RawMessage{c.Parts}
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

// PartOf returns a part of a content, in a shape that agents accept; an empty one for a
// part of another shape, which InWords then describes by its JSON.
func PartOf(raw json.RawMessage) Part {
	var p Part
	switch {
	case json.Unmarshal(raw, &p) != nil:
		return Part{}
	case p.Call != nil && p.Call.Name == "", p.Inline != nil && !IsBase64(p.Inline.Data):
		return Part{}
	case p.Call != nil:
		p.Call.Args = ObjectOr(p.Call.Args, "args")
	}
	return p
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

// DataURL returns the data URL of a part's bytes. ADK encodes them in the URL-safe
// alphabet, which data URLs do not use.
func DataURL(mimeType, data string) string {
	return "data:" + mimeType + ";base64," + StandardBase64(data)
}

// StandardBase64 returns base64 of the URL-safe alphabet in the standard one.
func StandardBase64(data string) string { return strings.NewReplacer("-", "+", "_", "/").Replace(data) }

// InWords describes a part that a model cannot be sent: a part of an unknown shape
// by its JSON. A file of text is followed by its text.
func InWords(p Part, raw json.RawMessage) string {
	text, isText := p.attachedText()
	switch {
	case isText:
		return strings.TrimSpace("[attached: "+p.Inline.MimeType+" "+p.Inline.Name) + "]\n" + text
	case p.Inline != nil:
		return strings.TrimSpace("[attached: "+p.Inline.MimeType+" "+p.Inline.Name) + "]"
	case p.File != nil:
		return strings.TrimSpace("[file: "+p.File.MimeType+" "+p.File.URI) + "]"
	}
	return string(raw)
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

// IsBase64 reports whether a text is bytes in base64 of either alphabet.
func IsBase64(text string) bool {
	_, err := base64.RawStdEncoding.DecodeString(StandardBase64(strings.TrimRight(text, "=")))
	return err == nil && text != ""
}
