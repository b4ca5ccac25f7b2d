package responsesconvert

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Given is an item of a request's input.
type Given struct {
	at     string // JSON pointer
	agents bool   // an agent's: it and those before it are history
	waits  bool   // a call that the client answers
	answer bool   // an agent's answer to its own call
	role   string // of a message: user, system or developer
	// answers is the id of the call that an output is for, and output is that.
	answers, answersAt string
	output             json.RawMessage
	call               *Called // that parts begin
	parts              []content.Part
}

// parseInput reads a text, or a list of items.
func parseInput(o jsonx.Object, name string) ([]Given, error) {
	raw, at := o.Members[name], o.Pointer(name)
	var text string
	switch {
	case jsonx.IsNull(raw):
		return nil, fault.Field(fault.Malformed, at, "is required")
	case json.Unmarshal(raw, &text) == nil:
		return []Given{{at: at, role: conversation.User, parts: []content.Part{content.Text(text)}}}, nil
	}
	items, err := o.Array(name)
	if err != nil {
		return nil, fault.Field(fault.Malformed, at, "must be a text or an array of items")
	}
	return parseItems(items, at)
}

func parseItems(items []json.RawMessage, at string) ([]Given, error) {
	out := make([]Given, len(items))
	for i, raw := range items {
		o, err := jsonx.ParseObject(raw, pointer(at, i))
		if err != nil {
			return nil, err
		}
		if out[i], err = parseItem(o); err != nil {
			return nil, err
		}
		out[i].at = o.At
	}
	return out, nil
}

func parseItem(o jsonx.Object) (g Given, err error) {
	kind, err := o.Text("type")
	if err != nil {
		return g, err
	}
	switch kind {
	case "", TypeMessage:
		return parseMessage(o)
	case TypeReasoning:
		return parseReasoning(o)
	case TypeCall, TypeToolCall:
		return parseCall(o, kind == TypeCall)
	case TypeOutput:
		g.answersAt = o.Pointer("call_id")
		if g.answers, err = o.RequiredText("call_id"); err == nil {
			g.output, g.parts, err = parseOutput(o)
		}
		return g, err
	case TypeToolOutput:
		return parseToolOutput(o)
	case TypeFile:
		url, err := o.RequiredText("file_url")
		if err != nil {
			return g, err
		}
		mediaType, err := o.Text("media_type")
		if err != nil {
			return g, err
		}
		part, err := conversation.File(o.Pointer("file_url"), url, cmp.Or(conversation.MediaType(url), mediaType), "")
		return Given{agents: true, parts: []content.Part{part}}, err
	case TypePart:
		part, err := o.Object("part")
		g = Given{agents: true, parts: []content.Part{{}}}
		if part.Members != nil {
			g.parts[0] = content.ParsePart(o.Members["part"])
		}
		return g, err
	}
	return g, fault.Field(fault.Invalid, o.Pointer("type"), "is a kind of item that is not supported here: %s", kind)
}

func parseMessage(o jsonx.Object) (g Given, err error) {
	role, err := o.RequiredText("role")
	if err != nil {
		return g, err
	}
	switch role {
	case conversation.User, conversation.System, conversation.Developer:
		g.role = role
	case conversation.Assistant:
		g.agents = true
	default:
		return g, fault.Field(fault.Invalid, o.Pointer("role"), "must be user, assistant, system or developer")
	}
	if g.parts, err = parseContent(o, "content"); err != nil {
		return g, err
	}
	notText := func(p content.Part) bool { return p.Text == nil }
	if role != conversation.User && slices.ContainsFunc(g.parts, notText) {
		return g, fault.Field(fault.Invalid, o.Pointer("content"), "must be a text")
	}
	return g, nil
}

// instructs reports whether an item is a message that instructs an agent.
func (g Given) instructs() bool { return conversation.Instructs(g.role) }

// parseContent reads a text, or a list of content parts.
func parseContent(o jsonx.Object, name string) ([]content.Part, error) {
	var text string
	if raw := o.Members[name]; !jsonx.IsNull(raw) && json.Unmarshal(raw, &text) == nil {
		return []content.Part{content.Text(text)}, nil
	}
	items, err := o.Array(name)
	if err != nil || !o.Has(name) {
		return nil, fault.Field(fault.Malformed, o.Pointer(name), "must be a text or an array of parts")
	}
	if len(items) == 0 {
		return nil, fault.Field(fault.Invalid, o.Pointer(name), "must not be empty")
	}
	parts := make([]content.Part, len(items))
	for i, raw := range items {
		part, err := jsonx.ParseObject(raw, pointer(o.Pointer(name), i))
		if err != nil {
			return nil, err
		}
		if parts[i], err = parsePart(part); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func parsePart(o jsonx.Object) (content.Part, error) {
	kind, err := o.RequiredText("type")
	if err != nil {
		return content.Part{}, err
	}
	switch kind {
	case "input_text", "output_text", "text", "summary_text", "reasoning_text":
		text, err := o.RequiredText("text")
		return content.Text(text), err
	case "refusal":
		text, err := o.RequiredText("refusal")
		return content.Text(text), err
	case "input_image":
		return parseFile(o, "image_url", "", "image/*")
	case "input_file":
		if !jsonx.IsNull(o.Members["file_url"]) {
			return parseFile(o, "file_url", "filename", "application/octet-stream")
		}
		return parseFile(o, "file_data", "filename", "application/octet-stream")
	}
	return content.Part{}, fault.Field(fault.Invalid, o.Pointer("type"), "is a kind of content that is not supported here: %s", kind)
}

// parseFile reads a file whose address or data is in a member. otherwise is its media
// type if neither that nor the file's name has one.
func parseFile(o jsonx.Object, member, nameMember, otherwise string) (content.Part, error) {
	if !jsonx.IsNull(o.Members["file_id"]) {
		return content.Part{}, fault.Field(fault.Invalid, o.Pointer("file_id"), "is not supported: send the file itself, or its address")
	}
	source, err := o.RequiredText(member)
	if err != nil {
		return content.Part{}, err
	}
	name := ""
	if nameMember != "" && !jsonx.IsNull(o.Members[nameMember]) {
		if name, err = o.Text(nameMember); err != nil {
			return content.Part{}, err
		}
	}
	mediaType := mediaTypeOf(name)
	if member == "file_data" && !strings.HasPrefix(source, "data:") {
		return conversation.Data(o.Pointer(member), source, cmp.Or(mediaType, otherwise), name)
	}
	if member != "file_data" && mediaType == "" {
		mediaType = mediaTypeOf(strings.SplitN(source, "?", 2)[0])
	}
	return conversation.File(o.Pointer(member), source, cmp.Or(conversation.MediaType(source), mediaType, otherwise), name)
}

func isImage(mediaType string) bool { return strings.HasPrefix(mediaType, "image/") }

// mediaTypeOf returns the media type that the end of a file's name means; "" if it is
// not known.
func mediaTypeOf(name string) string {
	return map[string]string{
		".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
		".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".json": "application/json",
		".html": "text/html",
	}[strings.ToLower(path.Ext(name))]
}
