package responses

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// recordMember is the member of an event with a record.
const recordMember = "responses"

// Types of a response's items that an event's content represents.
const (
	messageItem = "message"
	callItem    = "function_call"
)

// record is what an event keeps of a response besides its content: the order
// of its items, and those that only the provider understands, such as encrypted
// reasoning. The same model gets them back with the history.
type record struct {
	Model string       `json:"model"`
	Items []recordItem `json:"items"`
}

// recordItem is an item of a response. Messages and calls are in the content, so only
// their places are recorded.
type recordItem struct {
	Type string `json:"type"`
	// Parts is the number of text parts of a message.
	Parts int `json:"parts,omitempty"`
	// Item is an item of another type, without its id: the provider has not stored it.
	Item map[string]json.RawMessage `json:"item,omitempty"`
}

// recordOf returns the record of an event if it is of this model.
func recordOf(e session.Event, model string) record {
	var r record
	if raw := e.Fields[recordMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil || r.Model != model {
		return record{} // of another model, or somebody else's member of that name
	}
	return r
}

// isNeeded reports whether the content alone would not give the same items.
func (r record) isNeeded() bool {
	for _, item := range r.Items {
		if item.Item != nil {
			return true
		}
	}
	return false
}

// restore returns the input items for the model's own response; ok is false if the
// content is not that of the response any more.
func (r record) restore(texts []inputPart, calls []inputItem) (items []inputItem, ok bool) {
	for _, recorded := range r.Items {
		switch {
		case recorded.Item != nil:
			item := inputItem{}
			for name, value := range recorded.Item {
				item[name] = value
			}
			items = append(items, item)
		case recorded.Type == messageItem:
			if recorded.Parts > len(texts) {
				return nil, false
			}
			if recorded.Parts > 0 {
				items = append(items, messageOf("assistant", texts[:recorded.Parts]))
			}
			texts = texts[recorded.Parts:]
		case recorded.Type == callItem && len(calls) > 0:
			items, calls = append(items, calls[0]), calls[1:]
		default:
			return nil, false
		}
	}
	return items, len(texts) == 0 && len(calls) == 0
}
