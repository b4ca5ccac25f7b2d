package agui

import (
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/client/agent/transcript"
)

// message is one message of AG-UI. Content is a string or []part.
type message struct {
	ID             string     `json:"id"`
	Role           string     `json:"role"`
	Content        any        `json:"content,omitempty"`
	ToolCalls      []toolCall `json:"toolCalls,omitempty"`
	ToolCallID     string     `json:"toolCallId,omitempty"`
	Error          string     `json:"error,omitempty"`
	EncryptedValue string     `json:"encryptedValue,omitempty"`
}

// Roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
	roleReasoning = "reasoning"
)

type toolCall struct {
	ID             string   `json:"id"`
	Type           string   `json:"type"`
	Function       function `json:"function"`
	EncryptedValue string   `json:"encryptedValue,omitempty"`
}

// part is a part of a message's content: text, or a file of a kind.
type part struct {
	Type     string            `json:"type"`
	Text     string            `json:"text,omitempty"`
	Source   *source           `json:"source,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// source is where a file is: its bytes in base64 ("data") or its address ("url").
type source struct {
	Type     string `json:"type"`
	Value    string `json:"value"`
	MimeType string `json:"mimeType,omitempty"`
}

// filePart returns a part with a file; ok is false if the part has none.
func filePart(p transcript.Part) (file part, ok bool) {
	switch {
	case p.Inline != nil:
		data := transcript.StandardBase64(p.Inline.Data)
		file = part{Type: kindOfFile(p.Inline.MimeType), Source: &source{"data", data, p.Inline.MimeType}}
		if p.Inline.Name != "" {
			file.Metadata = map[string]string{"filename": p.Inline.Name}
		}
	case p.File != nil:
		file = part{Type: kindOfFile(p.File.MimeType), Source: &source{"url", p.File.URI, p.File.MimeType}}
	default:
		return part{}, false
	}
	return file, true
}

// kindOfFile returns the type of a part for a media type.
func kindOfFile(mimeType string) string {
	kind, _, _ := strings.Cut(mimeType, "/")
	switch kind {
	case "image", "audio", "video":
		return kind
	}
	return "document"
}

// parsedPart is a part of a tool's result. Its metadata may be any JSON.
type parsedPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Source   *source         `json:"source"`
	Metadata json.RawMessage `json:"metadata"`
}

// contentPart returns the part as the session keeps it: text, the bytes of a file, or
// its address. A file that only its provider can find is described in words.
func (p parsedPart) contentPart() map[string]any {
	if p.Source == nil {
		return map[string]any{"text": p.Text}
	}
	file := map[string]any{}
	if p.Source.MimeType != "" {
		file["mime_type"] = p.Source.MimeType
	}
	switch p.Source.Type {
	case "data":
		file["data"] = p.Source.Value
		var named struct{ Filename string }
		if json.Unmarshal(p.Metadata, &named) == nil && named.Filename != "" {
			file["display_name"] = named.Filename
		}
		return map[string]any{"inline_data": file}
	case "url":
		file["file_uri"] = p.Source.Value
		return map[string]any{"file_data": file}
	}
	return map[string]any{"text": "[file: " + strings.TrimSpace(p.Source.MimeType+" "+p.Source.Value) + "]"}
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
