package agui

import (
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
)

// result handles the result of a tool call. It waits while other calls of the item are
// in progress.
func (r *reader) result(e event) error {
	if e.ToolCallID == "" {
		return r.malformed("toolCallId is required")
	}
	if r.done[e.ToolCallID] { // repeated
		return nil
	}
	r.done[e.ToolCallID] = true
	key := partKey{callPart, e.ToolCallID}
	delete(r.item.open, key)
	r.results = append(r.results, e)
	if r.item.busy(callPart, key) {
		return nil
	}
	return r.complete(false)
}

// emitResult emits a result as a function's response.
func (r *reader) emitResult(e event) error {
	record := r.pending
	text, files, err := r.resultContent(e.Content)
	if err != nil {
		return err
	}
	response := json.RawMessage(text)
	if !jsonx.IsObject(response) || jsonx.CheckInner(response) != nil {
		record.Plain = true
		if response, err = wrapped(text); err != nil {
			return err
		}
	}
	record.Messages = []string{e.MessageID}
	parts := append([]content.Part{content.Answer(e.ToolCallID, r.names[e.ToolCallID], response)}, files...)
	return r.event(map[string]any{"content": content.Content{Role: "user", Parts: parts}}, record)
}

// wrapped returns a text as a function's response: an object whose result is the
// array that the text contains, otherwise the text itself.
func wrapped(text string) (json.RawMessage, error) {
	var result any = text
	if jsonx.IsArray([]byte(text)) && jsonx.CheckInner([]byte(text)) == nil {
		result = json.RawMessage(text)
	}
	return jsonx.Marshal(map[string]any{"result": result})
}

// resultContent splits the content of a result, a string or a list of parts, into its
// text and its files.
func (r *reader) resultContent(raw json.RawMessage) (text string, files []content.Part, err error) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil, nil
	}
	var parts []parsedPart
	if json.Unmarshal(raw, &parts) != nil {
		return "", nil, r.malformed("a result's content must be a string or a list of parts")
	}
	var texts []string
	for _, p := range parts {
		part := p.contentPart()
		if part.Text != nil {
			texts = append(texts, *part.Text)
			continue
		}
		files = append(files, part)
	}
	return strings.Join(texts, "\n"), files, nil
}
