package a2a

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/session"
)

// pass adds an event's parts as they are.
func (m *composer) pass(e session.Event) {
	for _, raw := range transcript.ContentOf(e).Parts {
		m.passPart(transcript.PartOf(raw), raw)
	}
}

func (m *composer) passPart(p transcript.Part, raw json.RawMessage) {
	var more struct {
		Data     json.RawMessage            `json:"data"`
		Metadata map[string]json.RawMessage `json:"part_metadata"`
		Call     json.RawMessage            `json:"function_call"`
		Response json.RawMessage            `json:"function_response"`
	}
	if json.Unmarshal(raw, &more) != nil {
		more.Metadata = nil // of another shape: sent as text
	}
	switch {
	case p.Thought:
	case p.Call != nil:
		m.add("data", more.Call, withType(more.Metadata, functionCall))
	case p.Response != nil:
		m.add("data", more.Response, withType(more.Metadata, functionResponse))
	case p.Inline != nil:
		m.file(p.Inline.MimeType, p.Inline.Name, "", transcript.StandardBase64(p.Inline.Data), more.Metadata)
	case p.File != nil:
		m.file(p.File.MimeType, "", p.File.URI, "", more.Metadata)
	case !jsonx.IsNull(more.Data) && (!m.old || jsonx.IsObject(more.Data)): // version 0.3 knows no other data
		m.add("data", more.Data, more.Metadata)
	case p.Text != nil:
		m.add("text", *p.Text, more.Metadata)
	default:
		m.add("text", transcript.InWords(p, raw), more.Metadata)
	}
}

// withType marks data as a function call or the response to one.
func withType(metadata map[string]json.RawMessage, kind string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, value := range metadata {
		out[name] = value
	}
	for _, name := range []string{adkTypeKey, kagentTypeKey} {
		out[name] = json.RawMessage(`"` + kind + `"`)
	}
	return out
}

// add adds a part with text or data.
func (m *composer) add(kind string, value any, metadata map[string]json.RawMessage) {
	part := map[string]any{kind: value}
	if m.old {
		part["kind"] = kind
	}
	m.append(part, metadata)
}

func (m *composer) append(part map[string]any, metadata map[string]json.RawMessage) {
	if len(metadata) > 0 {
		part["metadata"] = metadata
	}
	m.parts = append(m.parts, part)
}

// file adds a file with its address or its bytes.
func (m *composer) file(mimeType, name, uri, data string, metadata map[string]json.RawMessage) {
	file, mimeMember, nameMember, uriMember, dataMember := map[string]any{}, "mediaType", "filename", "url", "raw"
	if m.old {
		mimeMember, nameMember, uriMember, dataMember = "mimeType", "name", "uri", "bytes"
	}
	named(named(file, mimeMember, mimeType), nameMember, name)
	if uri != "" {
		file[uriMember] = uri
	} else {
		file[dataMember] = data
	}
	if m.old {
		file = map[string]any{"kind": "file", "file": file}
	}
	m.append(file, metadata)
}
