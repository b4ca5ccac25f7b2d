package convert

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// given is a message of a request.
type given struct {
	ID         string          `json:"id"`
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"toolCallId"`
	Error      string          `json:"error"`
}

// message returns the message for the comparison with the session; at is its JSON
// pointer.
func (g given) message(at string) conversation.Given {
	out := conversation.Given{ID: g.ID, Role: g.Role, CallID: g.ToolCallID, At: at, CallAt: at + "/toolCallId"}
	switch g.Role {
	case conversation.User:
		out.Parts, out.Err = g.parts(at)
	case conversation.Tool:
		out.Response, out.Err = g.response(at)
	}
	return out
}

// parts returns the content of a person's message as parts of an event.
func (g given) parts(at string) ([]conversation.Part, error) {
	var said string
	if json.Unmarshal(g.Content, &said) == nil && !jsonx.IsNull(g.Content) {
		return []conversation.Part{conversation.TextPart(said)}, nil
	}
	var list []struct {
		Type     string
		Text     *string
		Source   *Source
		Metadata json.RawMessage
	}
	if !jsonx.IsArray(g.Content) || json.Unmarshal(g.Content, &list) != nil {
		return nil, fault.Field(fault.Invalid, at+"/content", "must be a string or a list of parts")
	}
	var parts []conversation.Part
	for i, p := range list {
		switch {
		case p.Source == nil && p.Text != nil:
			parts = append(parts, conversation.TextPart(*p.Text))
		case p.Source != nil:
			parts = append(parts, p.Source.part(p.Metadata))
		default:
			return nil, fault.Field(fault.Invalid, at+"/content/"+strconv.Itoa(i), "must have a text or a source")
		}
	}
	if len(parts) == 0 {
		return nil, fault.Field(fault.Invalid, at+"/content", "must not be empty")
	}
	return parts, nil
}

// part returns a file as a part of an event. A file that only its provider can find is
// described in words.
func (s Source) part(metadata json.RawMessage) conversation.Part {
	mediaType := ""
	if s.MIMEType != nil {
		mediaType = *s.MIMEType
	}
	switch s.Type {
	case "data":
		var named struct{ Filename string }
		if json.Unmarshal(metadata, &named) != nil {
			named.Filename = ""
		}
		return conversation.DataPart(mediaType, s.Value, named.Filename)
	case "url":
		return conversation.URLPart(mediaType, s.Value)
	}
	return conversation.NamedPart(mediaType, s.Value)
}

// response returns the content of a tool's message as a function's response.
func (g given) response(at string) (json.RawMessage, error) {
	if g.Error != "" {
		return conversation.ErrorResponse(g.Error)
	}
	var said string
	if jsonx.IsNull(g.Content) || json.Unmarshal(g.Content, &said) != nil {
		var parts []struct{ Text string }
		if !jsonx.IsArray(g.Content) || json.Unmarshal(g.Content, &parts) != nil {
			return nil, fault.Field(fault.Invalid, at+"/content", "must be a string or a list of parts")
		}
		texts := make([]string, len(parts))
		for i, p := range parts {
			texts[i] = p.Text
		}
		said = strings.Join(texts, "\n")
	}
	return conversation.TextResponse(said)
}
