package a2a

import (
	"encoding/base64"
	"encoding/json"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
)

// Metadata by which agents of ADK and kagent mark parts.
const (
	adkTypeKey        = "adk_type"
	kagentTypeKey     = "kagent_type"
	functionCall      = "function_call"
	functionResponse  = "function_response"
	adkThoughtKey     = "adk_thought"
	kagentThoughtKey  = "kagent_thought"
	adkLongRunning    = "adk_is_long_running"
	kagentLongRunning = "kagent_is_long_running"
)

// piecesOf converts the parts of a message or an artifact.
func piecesOf(parts []part) ([]piece, error) {
	var out []piece
	for _, part := range parts {
		p, err := part.piece()
		if err != nil {
			return nil, err
		}
		if p.isText && p.text == "" && p.part == nil {
			continue
		}
		out = joined(out, p)
	}
	return out, nil
}

func (p part) piece() (piece, error) {
	out := piece{meta: p.remainingMetadata()}
	switch {
	case p.Text != nil:
		out.isText, out.text = true, *p.Text
		out.thought = p.Metadata.flag(adkThoughtKey, kagentThoughtKey)
		return out, nil
	case p.Raw != nil:
		return out.inline(p.MediaType, p.Filename, *p.Raw)
	case p.URL != "":
		return out.file(p.MediaType, p.Filename, p.URL), nil
	case p.File != nil && p.File.Bytes != nil:
		return out.inline(p.File.MIMEType, p.File.Name, *p.File.Bytes)
	case p.File != nil && p.File.URI != "":
		return out.file(p.File.MIMEType, p.File.Name, p.File.URI), nil
	case !jsonx.IsNull(p.Data):
		return p.data(out)
	}
	return out, fault.New(fault.Malformed, "a part must have text, raw, url, data or file")
}

// remainingMetadata returns the metadata that the piece itself does not represent.
func (p part) remainingMetadata() string {
	rest := map[string]json.RawMessage{}
	for name, value := range p.Metadata {
		switch name {
		case adkThoughtKey, kagentThoughtKey, adkLongRunning, kagentLongRunning, adkTypeKey, kagentTypeKey:
		default:
			rest[name] = value
		}
	}
	if len(rest) == 0 {
		return ""
	}
	return string(mustJSON(rest))
}

// data converts data, which may be a function call or its response.
func (p part) data(out piece) (piece, error) {
	kind := p.Metadata.text(adkTypeKey, kagentTypeKey)
	var call struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	isCall := jsonx.IsObject(p.Data) && json.Unmarshal(p.Data, &call) == nil && call.Name != ""
	switch {
	case kind == functionCall && isCall:
		if jsonx.IsNull(call.Args) {
			call.Args = json.RawMessage("{}")
		}
		out.part = &content.Part{Call: &content.Call{Raw: p.Data}}
		out.call = &content.CallDelta{ID: call.ID, Name: call.Name, ArgsText: string(call.Args)}
		out.waits = p.Metadata.flag(adkLongRunning, kagentLongRunning)
	case kind == functionResponse && isCall:
		out.part = &content.Part{Response: &content.Response{Raw: p.Data}}
	default: // the form in which the A2A server stores it
		said := content.Text(string(p.Data))
		said.Data, said.MIMEType, said.Name = p.Data, p.MediaType, p.Filename
		out.part = &said
	}
	return out, nil
}

func (p piece) inline(mimeType, name, data string) (piece, error) {
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		return p, fault.New(fault.Malformed, "the bytes of a file must be base64")
	}
	file := content.Data(mimeType, data, name)
	p.part = &file
	return p, nil
}

func (p piece) file(mimeType, name, uri string) piece {
	file := content.Address(mimeType, uri, name)
	p.part = &file
	return p
}

// named adds a member with a text that is not empty.
func named(members map[string]any, name, text string) map[string]any {
	if text != "" {
		members[name] = text
	}
	return members
}
