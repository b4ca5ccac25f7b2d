package agui

import (
	"strings"

	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/content"
)

// text handles the events of text messages. Only those of the assistant are output.
func (r *reader) text(e event) error {
	delta, err := r.textOf(e.Delta)
	if err != nil {
		return err
	}
	chunk := strings.HasSuffix(e.Type, "_CHUNK")
	if chunk && e.MessageID == "" {
		e.MessageID = r.chunked[textPart]
	}
	key := partKey{textPart, e.MessageID}
	switch {
	case e.MessageID == "":
		return r.malformed("messageId is required")
	case e.Type == "TEXT_MESSAGE_END":
		delete(r.item.open, key)
		return nil
	case e.Type == "TEXT_MESSAGE_START":
		r.item.open[key] = true
	case chunk:
		r.chunked[textPart] = e.MessageID
	case !r.begun[key]:
		return r.malformed("the text message %q has not begun", endpoint.Excerpt(e.MessageID))
	}
	if !r.begun[key] {
		r.begun[key] = true
		r.skipped[e.MessageID] = e.Role != "" && e.Role != roleAssistant
	}
	if r.skipped[e.MessageID] {
		delete(r.item.open, key)
		return nil
	}
	if delta == "" {
		return nil
	}
	return r.say(key, e.MessageID, content.Delta{Text: delta})
}

// reasoning handles the events of thinking. In versions before 0.1.11 of AG-UI it has
// another name, and no ids.
func (r *reader) reasoning(e event) error {
	delta, err := r.textOf(e.Delta)
	if err != nil {
		return err
	}
	key := r.thoughtKey(e)
	switch e.Type {
	case "REASONING_START":
		r.begun[key] = true
		return nil
	case "REASONING_ENCRYPTED_VALUE":
		return r.encrypted(e)
	case "REASONING_MESSAGE_START", "THINKING_TEXT_MESSAGE_START":
		r.begun[key] = true
		r.item.open[key] = true
		return nil
	case "REASONING_MESSAGE_END", "THINKING_TEXT_MESSAGE_END":
		delete(r.item.open, key)
		return nil
	case "REASONING_MESSAGE_CHUNK":
		r.begun[key] = true
		r.chunked[thoughtPart] = key.id
	}
	switch {
	case !r.begun[key]:
		return r.malformed("the reasoning message %q has not begun", endpoint.Excerpt(e.MessageID))
	case delta == "":
		return nil
	}
	return r.say(key, e.MessageID, content.Delta{Thought: true, Text: delta})
}

// thoughtKey returns the key of a reasoning message.
func (r *reader) thoughtKey(e event) partKey {
	id := e.MessageID
	switch {
	case strings.HasPrefix(e.Type, "THINKING_"):
		if e.Type == "THINKING_TEXT_MESSAGE_START" {
			r.thoughts++
		}
		id = strings.Repeat("-", r.thoughts)
	case id == "" && e.Type == "REASONING_MESSAGE_CHUNK":
		id = r.chunked[thoughtPart]
	}
	return partKey{thoughtPart, id}
}

// encrypted keeps a value that only the provider of the model can read. Thinking of
// which nothing else comes is an empty part.
func (r *reader) encrypted(e event) error {
	if r.pending.Encrypted == nil {
		r.pending.Encrypted = map[string]string{}
	}
	r.pending.Encrypted[e.EntityID] = e.EncryptedValue
	key := partKey{thoughtPart, e.EntityID}
	if _, ok := r.item.parts[key]; ok || e.Subtype != "message" || !r.begun[key] {
		return nil
	}
	return r.say(key, e.EntityID, content.Delta{Thought: true})
}
