package a2a

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// pass adds an event's parts as they are.
func (m *composer) pass(e session.Event) {
	for _, p := range transcript.ContentOf(e).Parts {
		m.passPart(p)
	}
}

func (m *composer) passPart(p transcript.Part) {
	var metadata map[string]json.RawMessage
	if json.Unmarshal(p.Metadata, &metadata) != nil {
		metadata = nil // of another shape
	}
	switch {
	case p.Thought:
	case p.Call != nil:
		m.add("data", p.Call.Raw, withType(metadata, functionCall))
	case p.Response != nil:
		m.add("data", p.Response.Raw, withType(metadata, functionResponse))
	case p.Inline != nil:
		m.file(p.Inline.MIMEType, p.Inline.Name, "", content.StandardBase64(p.Inline.Data), metadata)
	case p.File != nil:
		m.file(p.File.MIMEType, "", p.File.URI, "", metadata)
	case !jsonx.IsNull(p.Data) && (!m.old || jsonx.IsObject(p.Data)): // version 0.3 knows no other data
		m.add("data", p.Data, metadata)
	case p.Text != nil:
		m.add("text", *p.Text, metadata)
	default:
		m.add("text", p.InWords(), metadata)
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
