package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// content is the part of an event's content that a chat can represent.
type content struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

type contentMember struct {
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
		URI      string `json:"file_uri"`
	} `json:"file_data"`
}

// contentOf returns an event's content; none for an event without one.
func contentOf(e session.Event) (content, error) {
	var c content
	raw := e.Fields["content"]
	if jsonx.IsNull(raw) {
		return c, nil
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("read content: %w", err)
	}
	return c, nil
}

// fromModel reports whether the content is a model's.
func (c content) fromModel(e session.Event) bool {
	return c.Role == "model" || c.Role == "assistant" || c.Role == "" && e.Author != "user"
}

// memberOf returns a part of a content; an empty one for a part of another shape.
func memberOf(raw json.RawMessage) contentMember {
	var p contentMember
	if json.Unmarshal(raw, &p) != nil {
		return contentMember{}
	}
	return p
}

// dataURL returns the data URL of a part's bytes. ADK encodes them in the URL-safe
// alphabet, which data URLs do not use.
func dataURL(mimeType, data string) string {
	return "data:" + mimeType + ";base64," + standardBase64(data)
}

func standardBase64(data string) string { return strings.NewReplacer("-", "+", "_", "/").Replace(data) }

// inWords describes a part that a model cannot be sent: a part of an unknown shape
// by its JSON.
func inWords(p contentMember, raw json.RawMessage) string {
	switch {
	case p.Inline != nil:
		return strings.TrimSpace("[attached: "+p.Inline.MimeType+" "+p.Inline.Name) + "]"
	case p.File != nil:
		return strings.TrimSpace("[file: "+p.File.MimeType+" "+p.File.URI) + "]"
	}
	return string(raw)
}

type openCall struct {
	id, name string
	ours     bool // the session's call has no id, so this one was generated
}

// noResult answers a call that has no answer when the conversation continues.
const noResult = `{"error":"the call got no response"}`

// findCall returns the index of the open call that a response belongs to: the call
// with the same id or, if either has none, with the same name; -1 for none.
func findCall(open []openCall, id, name string) int {
	for i, call := range open {
		byName := (id == "" || call.ours) && call.name == name
		if call.id == id || byName {
			return i
		}
	}
	return -1
}
