// Package a2aconvert translates between events of sessions and the messages,
// artifacts and tasks of the A2A protocol, version 1.0.
package a2aconvert

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
)

// Metadata that marks function calls, their responses, thoughts and errors, under
// the names that clients of kagent and of ADK look for.
const (
	kagentType    = "kagent_type"
	adkType       = "adk_type"
	kagentThought = "kagent_thought"
	adkThought    = "adk_thought"

	kagentLongRunning = "kagent_is_long_running"
	adkLongRunning    = "adk_is_long_running"

	errorCode       = "error_code"
	adkErrorCode    = "adk_error_code"
	adkErrorMessage = "adk_is_error_message"

	// adkExtension in a task's metadata has google-adk read the whole task: without
	// it, it ignores error codes, and the status of a task that has artifacts.
	adkExtension = "https://google.github.io/adk-docs/a2a/a2a-extension/"

	typeCall     = "function_call"
	typeResponse = "function_response"
)

// fromPart converts a message's part to an event's. A part with data has its text as
// well, for agents that cannot read data.
func fromPart(p *a2a.Part, pointer string) (out content.Part, err error) {
	if len(p.Metadata) > 0 {
		if out.Metadata, err = jsonx.Marshal(p.Metadata); err != nil {
			return out, fmt.Errorf("encode the metadata of a part: %w", err)
		}
	}
	out.MIMEType, out.Name = p.MediaType, p.Filename
	switch c := p.Content.(type) {
	case a2a.Text:
		text := string(c)
		out.Text = &text
		return out, nil
	case a2a.Data:
		return fromData(out, c.Value, p)
	case a2a.Raw:
		file := content.Data(p.MediaType, base64.StdEncoding.EncodeToString(c), p.Filename)
		file.Metadata = out.Metadata
		return file, nil
	case a2a.URL:
		file := content.Address(p.MediaType, string(c), p.Filename)
		file.Metadata = out.Metadata
		return file, nil
	}
	return out, fault.Field(fault.Invalid, pointer, "must be text, raw, url or data")
}

// fromData converts a part with data, or with the response to a function call.
func fromData(out content.Part, value any, p *a2a.Part) (content.Part, error) {
	raw, err := jsonx.Marshal(value)
	if err != nil {
		return out, fmt.Errorf("encode data: %w", err)
	}
	if _, ok := value.(map[string]any); ok && isType(p.Metadata, typeResponse) {
		return content.Part{Response: &content.Response{Raw: raw}, Metadata: out.Metadata}, nil
	}
	text := string(raw)
	out.Text, out.Data = &text, raw
	return out, nil
}

func isType(metadata map[string]any, name string) bool {
	return metadata[kagentType] == name || metadata[adkType] == name
}

// toPart converts an event's part to a message's; nil for a part that is empty
// or cannot be converted.
func toPart(p content.Part) *a2a.Part {
	out := &a2a.Part{MediaType: p.MIMEType, Filename: p.Name}
	for name, v := range object(p.Metadata) {
		out.SetMeta(name, v)
	}
	switch {
	case p.Call != nil:
		return typed(out, typeCall, object(p.Call.Raw))
	case p.Response != nil:
		return typed(out, typeResponse, object(p.Response.Raw))
	case p.Inline != nil:
		bytes, err := base64.StdEncoding.DecodeString(p.Inline.Data)
		if err != nil {
			return nil
		}
		out.Content, out.MediaType, out.Filename = a2a.Raw(bytes), p.Inline.MIMEType, p.Inline.Name
	case p.File != nil && p.File.URI != "":
		out.Content, out.MediaType, out.Filename = a2a.URL(p.File.URI), p.File.MIMEType, p.File.Name
	case p.Data != nil:
		out.Content = a2a.Data{Value: jsonx.Canonical(p.Data)}
	case p.Text != nil:
		out.Content = a2a.Text(*p.Text)
		if p.Thought {
			out.SetMeta(kagentThought, true)
			out.SetMeta(adkThought, true)
		}
	default:
		return nil
	}
	return out
}

// object returns the members of a JSON object, with each digit of their numbers.
func object(raw json.RawMessage) map[string]any {
	members, _ := jsonx.Canonical(raw).(map[string]any)
	return members
}

func typed(out *a2a.Part, kind string, value map[string]any) *a2a.Part {
	out.Content = a2a.Data{Value: value}
	out.SetMeta(kagentType, kind)
	out.SetMeta(adkType, kind)
	return out
}

// markLongRunning marks calls among a message's parts, by their ids, as calls
// whose response the client has to send.
func markLongRunning(parts a2a.ContentParts, ids map[string]bool) {
	for _, p := range parts {
		data, _ := p.Content.(a2a.Data)
		call, _ := data.Value.(map[string]any)
		if id, _ := call["id"].(string); isType(p.Metadata, typeCall) && ids[id] {
			p.SetMeta(kagentLongRunning, true)
			p.SetMeta(adkLongRunning, true)
		}
	}
}

// isAnswer reports whether the part belongs to the agent's answer rather than
// to the steps towards it.
func isAnswer(p content.Part) bool {
	return !p.Thought && p.Call == nil && p.Response == nil
}
