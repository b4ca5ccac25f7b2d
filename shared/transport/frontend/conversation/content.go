package conversation

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// content is the content of an event, as far as front ends can represent it.
type content struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

// member is a part of a content.
type member struct {
	Text    *string `json:"text"`
	Thought bool    `json:"thought"`
	Call    *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Args     json.RawMessage `json:"args"`
		ArgsText *string         `json:"args_text"` // while the call is in progress
	} `json:"function_call"`
	Response *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"function_response"`
	Inline *struct {
		MIMEType string `json:"mime_type"`
		Name     string `json:"display_name"`
		Data     string `json:"data"`
	} `json:"inline_data"`
	File *struct {
		MIMEType string `json:"mime_type"`
		URI      string `json:"file_uri"`
	} `json:"file_data"`
}

func (m member) kind() Kind {
	switch {
	case m.Call != nil:
		return PieceCall
	case m.Response != nil:
		return PieceResponse
	case m.Inline != nil, m.File != nil && m.File.URI != "":
		return PieceFile
	case m.Text != nil && m.Thought:
		return PieceThought
	case m.Text != nil:
		return PieceText
	}
	return PieceOther
}

// partsOf returns the parts of an event's content; none for a content of another
// shape.
func partsOf(e session.Event) ([]member, []json.RawMessage) {
	var c content
	if raw := e.Fields["content"]; jsonx.IsNull(raw) || json.Unmarshal(raw, &c) != nil {
		return nil, nil
	}
	parts := make([]member, len(c.Parts))
	for i, raw := range c.Parts {
		if json.Unmarshal(raw, &parts[i]) != nil {
			parts[i] = member{}
		}
	}
	return parts, c.Parts
}

// args returns the JSON text of a call's arguments, so far.
func (m member) args() string {
	switch {
	case m.Call.ArgsText != nil:
		return *m.Call.ArgsText
	case jsonx.IsNull(m.Call.Args):
		return "{}"
	}
	return string(m.Call.Args)
}
