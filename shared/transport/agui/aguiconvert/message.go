package aguiconvert

import (
	"strings"

	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Message is a message of AG-UI. Content is a string, []Part for a user, or an
// object for an activity.
type Message struct {
	ID           string `json:"id"`
	Role         string `json:"role"`
	Content      any    `json:"content,omitempty"`
	ToolCalls    []Call `json:"toolCalls,omitempty"`
	ToolCallID   string `json:"toolCallId,omitempty"`
	ActivityType string `json:"activityType,omitempty"`
}

// Call is a call in an assistant's message.
type Call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is the function of a call. Arguments is JSON text.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Part is a part of a user's message: text, or a file of a type.
type Part struct {
	Type     string         `json:"type"`
	Text     *string        `json:"text,omitempty"`
	Source   *Source        `json:"source,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Source is where a file is: its bytes in base64 ("data") or its address ("url").
type Source struct {
	Type     string  `json:"type"`
	Value    string  `json:"value"`
	MIMEType *string `json:"mimeType,omitempty"`
}

// Messages returns the messages of a thread in order.
func Messages(t *conversation.Thread) []Message {
	list := t.Messages()
	out := make([]Message, len(list))
	for i, m := range list {
		out[i] = messageOf(m)
	}
	return out
}

func messageOf(m conversation.Message) Message {
	out := Message{ID: m.ID, Role: m.Role, ToolCallID: m.CallID}
	switch m.Role {
	case conversation.User:
		out.Content = userContent(m.Pieces)
		return out
	case conversation.Tool:
		out.Content = m.Pieces[0].ResultText()
		return out
	case conversation.Activity:
		out.ActivityType, out.Content = m.Activity.Type, m.Activity.Content
		return out
	}
	for _, p := range m.Pieces {
		if p.Kind == conversation.PieceCall {
			out.ToolCalls = append(out.ToolCalls, Call{
				ID: p.CallID, Type: "function", Function: Function{Name: p.Name, Arguments: p.Text},
			})
		} else {
			out.Content = p.Text
		}
	}
	return out
}

// userContent returns the content of a user's message: a string if it is one text.
func userContent(pieces []conversation.Piece) any {
	if len(pieces) == 1 && pieces[0].Kind == conversation.PieceText {
		return pieces[0].Text
	}
	parts := make([]Part, len(pieces))
	for i, p := range pieces {
		parts[i] = partOf(p)
	}
	return parts
}

// partOf returns a text or a file as a part of a user's message.
func partOf(p conversation.Piece) Part {
	if p.Kind == conversation.PieceText {
		return Part{Type: "text", Text: &p.Text}
	}
	out := Part{Type: partType(p.MediaType), Source: &Source{Type: "url", Value: p.URL}}
	if p.URL == "" {
		out.Source.Type, out.Source.Value = "data", p.Data
	}
	if p.URL == "" || p.MediaType != "" {
		out.Source.MIMEType = &p.MediaType
	}
	if p.Filename != "" {
		out.Metadata = map[string]any{"filename": p.Filename}
	}
	return out
}

// partType returns the type of a part for a media type.
func partType(mimeType string) string {
	kind, _, _ := strings.Cut(mimeType, "/")
	switch kind {
	case "image", "audio", "video":
		return kind
	}
	return "document"
}
