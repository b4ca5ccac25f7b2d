package agui

import (
	"encoding/json"
	"errors"

	"github.com/rethread/rethread/shared/base/jsonpatch"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

// event is one event of an AG-UI stream. Members whose type depends on the event's
// are decoded by its handler.
type event struct {
	Type            string          `json:"type"`
	MessageID       string          `json:"messageId"`
	Role            string          `json:"role"`
	Delta           json.RawMessage `json:"delta"` // text, or a JSON Patch
	ToolCallID      string          `json:"toolCallId"`
	ToolCallName    string          `json:"toolCallName"`
	ParentMessageID string          `json:"parentMessageId"`
	Content         json.RawMessage `json:"content"`
	Snapshot        json.RawMessage `json:"snapshot"`
	Messages        json.RawMessage `json:"messages"`
	ActivityType    string          `json:"activityType"`
	Replace         *bool           `json:"replace"`
	Patch           json.RawMessage `json:"patch"`
	Name            string          `json:"name"`
	Value           json.RawMessage `json:"value"`
	Subtype         string          `json:"subtype"`
	EntityID        string          `json:"entityId"`
	EncryptedValue  string          `json:"encryptedValue"`
	Outcome         json.RawMessage `json:"outcome"`
	Result          json.RawMessage `json:"result"`
	Usage           json.RawMessage `json:"usage"`
	Message         string          `json:"message"`
	Code            string          `json:"code"`
}

func (r *reader) changeState(e event) error {
	err := error(nil)
	if e.Type == "STATE_SNAPSHOT" {
		err = r.state.replace(e.Snapshot)
	} else {
		err = r.state.patch(e.Delta)
	}
	var failed *endpoint.Error
	switch {
	case errors.As(err, &failed):
		return failed
	case err != nil:
		return r.malformed("the state cannot be changed: %s", err)
	}
	return nil
}

// activity keeps the newest content of an activity message.
func (r *reader) activity(e event) error {
	before, ok := r.activities[e.MessageID]
	content := e.Content
	switch {
	case e.Type == "ACTIVITY_DELTA" && !ok: // nothing to change
		return nil
	case e.Type == "ACTIVITY_DELTA":
		patched, err := jsonpatch.Apply(before, e.Patch, run.MaxItem)
		if err != nil {
			return r.malformed("the activity cannot be changed: %s", err)
		}
		content = patched
	case ok && e.Replace != nil && !*e.Replace:
		return nil
	case !jsonx.IsObject(content):
		return r.malformed("an activity's content must be an object")
	}
	r.activities[e.MessageID] = content
	for i, a := range r.pending.Activities {
		if a.MessageID == e.MessageID {
			r.pending.Activities[i].Content = content
			return nil
		}
	}
	r.pending.Activities = append(r.pending.Activities, activity{e.MessageID, e.ActivityType, content})
	return nil
}
