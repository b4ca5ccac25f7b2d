// Package convert translates between events of sessions and the messages,
// artifacts and tasks of the A2A protocol, version 1.0.
package convert

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
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

// part is a part of an event's content. A part with data has its text as well,
// for agents that cannot read data.
type part struct {
	Text             *string         `json:"text,omitempty"`
	Thought          bool            `json:"thought,omitempty"`
	Data             json.RawMessage `json:"data,omitempty"`
	InlineData       *inlineData     `json:"inline_data,omitempty"`
	FileData         *fileData       `json:"file_data,omitempty"`
	FunctionCall     map[string]any  `json:"function_call,omitempty"`
	FunctionResponse map[string]any  `json:"function_response,omitempty"`
	MIMEType         string          `json:"mime_type,omitempty"`
	DisplayName      string          `json:"display_name,omitempty"`
	Metadata         map[string]any  `json:"part_metadata,omitempty"`
}

type inlineData struct {
	MIMEType    string `json:"mime_type,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
	Data        string `json:"data"` // base64
}

type fileData struct {
	MIMEType    string `json:"mime_type,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
	URI         string `json:"file_uri"`
}

// content is the content of an event.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// fromPart converts a message's part to an event's.
func fromPart(p *a2a.Part, pointer string) (part, error) {
	out := part{Metadata: p.Metadata}
	switch c := p.Content.(type) {
	case a2a.Text:
		text := string(c)
		out.Text, out.MIMEType, out.DisplayName = &text, p.MediaType, p.Filename
	case a2a.Raw:
		out.InlineData = &inlineData{
			MIMEType: p.MediaType, DisplayName: p.Filename, Data: base64.StdEncoding.EncodeToString(c),
		}
	case a2a.URL:
		out.FileData = &fileData{MIMEType: p.MediaType, DisplayName: p.Filename, URI: string(c)}
	case a2a.Data:
		return fromData(out, c.Value, p)
	default:
		return part{}, fault.Field(fault.Invalid, pointer, "must be text, raw, url or data")
	}
	return out, nil
}

// fromData converts a part with data, or with the response to a function call.
func fromData(out part, value any, p *a2a.Part) (part, error) {
	if response, ok := value.(map[string]any); ok && isType(p.Metadata, typeResponse) {
		out.FunctionResponse = response
		return out, nil
	}
	raw, err := jsonx.Marshal(value)
	if err != nil {
		return part{}, fmt.Errorf("encode data: %w", err)
	}
	text := string(raw)
	out.Text, out.Data, out.MIMEType, out.DisplayName = &text, raw, p.MediaType, p.Filename
	return out, nil
}

func isType(metadata map[string]any, name string) bool {
	return metadata[kagentType] == name || metadata[adkType] == name
}

// toPart converts an event's part to a message's; nil for a part that is empty
// or cannot be converted.
func (p part) toPart() *a2a.Part {
	out := &a2a.Part{MediaType: p.MIMEType, Filename: p.DisplayName}
	for name, v := range p.Metadata {
		out.SetMeta(name, v)
	}
	switch {
	case p.FunctionCall != nil:
		return typed(out, typeCall, p.FunctionCall)
	case p.FunctionResponse != nil:
		return typed(out, typeResponse, p.FunctionResponse)
	case p.InlineData != nil:
		bytes, err := base64.StdEncoding.DecodeString(p.InlineData.Data)
		if err != nil {
			return nil
		}
		out.Content, out.MediaType, out.Filename = a2a.Raw(bytes), p.InlineData.MIMEType, p.InlineData.DisplayName
	case p.FileData != nil && p.FileData.URI != "":
		out.Content, out.MediaType, out.Filename = a2a.URL(p.FileData.URI), p.FileData.MIMEType, p.FileData.DisplayName
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
func (p part) isAnswer() bool {
	return !p.Thought && p.FunctionCall == nil && p.FunctionResponse == nil
}
