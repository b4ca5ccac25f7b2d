package agui

import (
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/content"
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
		data := content.StandardBase64(p.Inline.Data)
		file = part{Type: kindOfFile(p.Inline.MIMEType), Source: &source{"data", data, p.Inline.MIMEType}}
		if p.Inline.Name != "" {
			file.Metadata = map[string]string{"filename": p.Inline.Name}
		}
	case p.File != nil:
		file = part{Type: kindOfFile(p.File.MIMEType), Source: &source{"url", p.File.URI, p.File.MIMEType}}
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
func (p parsedPart) contentPart() content.Part {
	if p.Source == nil {
		return content.Text(p.Text)
	}
	switch p.Source.Type {
	case "data":
		var named struct{ Filename string }
		if json.Unmarshal(p.Metadata, &named) != nil {
			named.Filename = ""
		}
		return content.Data(p.Source.MimeType, p.Source.Value, named.Filename)
	case "url":
		return content.Address(p.Source.MimeType, p.Source.Value, "")
	}
	return content.Named(p.Source.MimeType, p.Source.Value)
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
