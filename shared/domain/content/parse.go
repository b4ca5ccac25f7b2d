package content

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Parse reads a content, whose JSON must not change any more. Sessions keep contents of every
// shape: what is no list of parts is one part, what is no text is no role, and ok is false
// for these and if there is a part of another shape.
func Parse(raw json.RawMessage) (c Content, ok bool) {
	switch {
	case jsonx.IsNull(raw):
		return Content{}, true
	case !json.Valid(raw):
		return Content{Parts: []Part{{raw: raw, odd: true}}, raw: raw}, false
	}
	odd, list := false, raw
	of := members{odd: &odd}
	if jsonx.IsObject(raw) {
		of = membersOf(raw, &odd)
		list = of.all["parts"]
	}
	c = Content{Role: of.text("role"), raw: raw}
	parts, isList := jsonx.Elements(list)
	if !isList && !jsonx.IsNull(list) {
		parts, odd = []json.RawMessage{list}, true
	}
	c.Parts = make([]Part, len(parts))
	for i, one := range parts {
		c.Parts[i] = ParsePart(one)
		odd = odd || c.Parts[i].odd
	}
	return c, !odd
}

// RoleOf returns the role of a content; "" if it has none.
func RoleOf(raw json.RawMessage) string {
	if !json.Valid(raw) {
		return ""
	}
	return membersOf(raw, new(bool)).text("role")
}

// ParsePart reads a part of valid JSON, which must not change any more. One with members
// of other types than they should have is none of the kinds.
func ParsePart(raw json.RawMessage) Part {
	odd := false
	of := membersOf(raw, &odd)
	p := Part{
		Text: of.optional("text"), Thought: of.flag("thought"), Data: of.all["data"], Metadata: of.all["part_metadata"],
		MIMEType: jsonx.Text(of.all["mime_type"]), Name: jsonx.Text(of.all["display_name"]), raw: raw,
	}
	if m, ok := of.object("function_call"); ok {
		p.Call = &Call{ID: m.text("id"), Name: m.text("name"), Args: m.all["args"], ArgsText: m.optional("args_text"), Raw: of.all["function_call"]}
	}
	if m, ok := of.object("function_response"); ok {
		p.Response = &Response{ID: m.text("id"), Name: m.text("name"), Response: m.all["response"], Raw: of.all["function_response"]}
	}
	if m, ok := of.object("inline_data"); ok {
		p.Inline = &Inline{Data: m.text("data"), Name: m.text("display_name"), MIMEType: m.text("mime_type")}
	}
	if m, ok := of.object("file_data"); ok {
		p.File = &File{URI: m.text("file_uri"), Name: m.text("display_name"), MIMEType: m.text("mime_type")}
	}
	if odd {
		return p.Unknown()
	}
	return p
}

// members are the members of an object of valid JSON. odd is set by a value of another type
// than it should have.
type members struct {
	all map[string]json.RawMessage
	odd *bool
}

func membersOf(raw json.RawMessage, odd *bool) members {
	all, ok := jsonx.Members(raw)
	*odd = *odd || !ok && !jsonx.IsNull(raw)
	return members{all, odd}
}

func (m members) text(name string) string {
	raw := m.all[name]
	*m.odd = *m.odd || !jsonx.IsNull(raw) && raw[0] != '"'
	return jsonx.Text(raw)
}

// optional returns a text; nil without one.
func (m members) optional(name string) *string {
	if jsonx.IsNull(m.all[name]) {
		return nil
	}
	text := m.text(name)
	return &text
}

func (m members) flag(name string) bool {
	raw := string(m.all[name])
	*m.odd = *m.odd || raw != "" && raw != "true" && raw != "false" && raw != "null"
	return raw == "true"
}

// object returns the members of a member; false without it.
func (m members) object(name string) (members, bool) {
	raw := m.all[name]
	if jsonx.IsNull(raw) {
		return members{}, false
	}
	return membersOf(raw, m.odd), true
}
