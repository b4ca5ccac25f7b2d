package aguiconvert

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
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
func (g given) parts(at string) ([]content.Part, error) {
	var said string
	if json.Unmarshal(g.Content, &said) == nil && !jsonx.IsNull(g.Content) {
		return []content.Part{content.Text(said)}, nil
	}
	var list []struct {
		Type     string
		Text     *string
		Source   *Source
		Metadata json.RawMessage

		MIMEType, Data, URL, ID, Filename string // of the type binary, of versions before 1.0
	}
	if !jsonx.IsArray(g.Content) || json.Unmarshal(g.Content, &list) != nil {
		return nil, fault.Field(fault.Invalid, at+"/content", "must be a string or a list of parts")
	}
	var parts []content.Part
	for i, p := range list {
		partAt := at + "/content/" + strconv.Itoa(i)
		switch {
		case p.Source == nil && p.Text != nil:
			parts = append(parts, content.Text(*p.Text))
		case p.Type == "binary":
			file, err := binary(partAt, p.MIMEType, p.Data, p.URL, p.ID, p.Filename)
			if err != nil {
				return nil, err
			}
			parts = append(parts, file)
		case p.Source != nil:
			file, err := p.Source.part(partAt+"/source/value", p.Metadata)
			if err != nil {
				return nil, err
			}
			parts = append(parts, file)
		default:
			return nil, fault.Field(fault.Invalid, partAt, "must have a text or a source")
		}
	}
	if len(parts) == 0 {
		return nil, fault.Field(fault.Invalid, at+"/content", "must not be empty")
	}
	return parts, nil
}

// binary returns a file as clients before 1.0 send it: its bytes, its address, or an id
// that only its provider can find.
func binary(at, mediaType, data, url, id, filename string) (content.Part, error) {
	metadata, err := jsonx.Marshal(map[string]any{"filename": filename})
	if err != nil {
		return content.Part{}, err
	}
	for _, s := range []struct{ member, kind, value string }{{"data", "data", data}, {"url", "url", url}, {"id", "id", id}} {
		if s.value != "" {
			return Source{Type: s.kind, Value: s.value, MIMEType: &mediaType}.part(at+"/"+s.member, metadata)
		}
	}
	return content.Part{}, fault.Field(fault.Invalid, at, "must have data, a url or an id")
}

// part returns a file as a part of an event. A file that only its provider can find is
// described in words. at is the JSON pointer of the value.
func (s Source) part(at string, metadata json.RawMessage) (content.Part, error) {
	mediaType := ""
	if s.MIMEType != nil {
		mediaType = *s.MIMEType
	}
	filename := ""
	var named struct{ Filename string }
	if json.Unmarshal(metadata, &named) == nil {
		filename = named.Filename
	}
	switch s.Type {
	case "data":
		return conversation.Data(at, s.Value, mediaType, filename)
	case "url":
		return conversation.File(at, s.Value, mediaType, filename)
	}
	return content.Named(mediaType, s.Value), nil
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
