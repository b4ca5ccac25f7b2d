package responses

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
)

// outputItem is an item of a response.
type outputItem struct {
	Type      string             `json:"type"`
	CallID    string             `json:"call_id"`
	Name      string             `json:"name"`
	Arguments provider.Arguments `json:"arguments"`
	Content   []outputPart       `json:"content"`
	Summary   []outputPart       `json:"summary"`
	Encrypted string             `json:"encrypted_content"`
}

// outputPart is a part of a message or of reasoning.
type outputPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// added handles the beginning of an item: a function call begins with its name.
func (r *reader) added(index int, raw json.RawMessage) error {
	var item outputItem
	if err := r.parse(raw, &item); err != nil {
		return err
	}
	if item.Type != callItem {
		return nil
	}
	return r.beginCall(index, item)
}

func (r *reader) beginCall(index int, item outputItem) error {
	if item.Name == "" {
		return r.out.Malformed("an event", fault.New(fault.Malformed, "a function call needs a name"))
	}
	call := &content.CallDelta{ID: item.CallID, Name: item.Name, ArgsText: string(item.Arguments)}
	return r.say(partKey{index, callPart, 0}, content.Delta{Call: call})
}

// maxOutputItems is the maximum number of items of a response.
const maxOutputItems = run.MaxItems

// itemDone handles a complete item: parts of which no delta came are in it whole.
func (r *reader) itemDone(index int, raw json.RawMessage) error {
	var item outputItem
	if err := r.parse(raw, &item); err != nil {
		return err
	}
	if index < 0 || index >= maxOutputItems {
		return endpoint.NewError(run.CodeLimit, "the agent's response has an item with the index %d; it may have %d items", index, maxOutputItems)
	}
	recorded := recordItem{Type: item.Type}
	var err error
	switch item.Type {
	case messageItem:
		recorded.Parts, err = r.message(index, item)
	case callItem:
		err = r.call(index, item)
	case "reasoning":
		if err = r.reasoning(index, item); err == nil && (item.Encrypted != "" || len(item.Content) > 0) {
			recorded.Item, err = withoutID(raw)
		}
	default: // of a tool of the provider's
		recorded.Item, err = withoutID(raw)
	}
	if err != nil {
		return err
	}
	for len(r.record.Items) < index { // an item that was never completed
		r.record.Items = append(r.record.Items, recordItem{Type: messageItem})
	}
	if index == len(r.record.Items) {
		r.record.Items = append(r.record.Items, recorded)
	}
	return nil
}

// message completes a message and returns its number of text parts.
func (r *reader) message(index int, item outputItem) (parts int, err error) {
	for i, p := range item.Content {
		kind, text := textPart, p.Text
		if p.Type == "refusal" {
			kind, text = refusalPart, p.Refusal
		}
		key := partKey{index, kind, i}
		if _, begun := r.parts[key]; !begun {
			if err := r.say(key, content.Delta{Text: text}); err != nil {
				return 0, err
			}
		}
		if text != "" {
			parts++
		}
	}
	return parts, nil
}

// call completes a function call of which no beginning came, or no arguments.
func (r *reader) call(index int, item outputItem) error {
	key := partKey{index, callPart, 0}
	if _, begun := r.parts[key]; !begun {
		return r.beginCall(index, item)
	}
	if r.hasArgs[index] {
		return nil
	}
	return r.say(key, content.Delta{Call: &content.CallDelta{ArgsText: string(item.Arguments)}})
}

// reasoning completes reasoning: its summary if there is one, otherwise its text.
func (r *reader) reasoning(index int, item outputItem) error {
	kind, parts := summaryPart, item.Summary
	if len(parts) == 0 {
		kind, parts = thoughtPart, item.Content
	}
	for i, p := range parts {
		_, hasSummary := r.parts[partKey{index, summaryPart, i}]
		_, hasText := r.parts[partKey{index, thoughtPart, i}]
		if hasSummary || hasText {
			continue
		}
		if err := r.say(partKey{index, kind, i}, content.Delta{Thought: true, Text: p.Text}); err != nil {
			return err
		}
	}
	return nil
}

// withoutID returns an item as the provider is sent it: it has not stored the item,
// so it does not know the id.
func withoutID(raw json.RawMessage) (map[string]json.RawMessage, error) {
	item, err := jsonx.MembersBut(raw, "id", "status")
	if err == nil && jsonx.IsNull(item["content"]) {
		delete(item, "content")
	}
	return item, err
}
