package conversation

import (
	"cmp"
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// TextResponse returns the text of a tool's message as a function's response: the
// object that it is, or one whose only member, result, is the text, also if that is an
// object which could not be stored.
func TextResponse(text string) (json.RawMessage, error) {
	if raw := json.RawMessage(text); jsonx.IsObject(raw) && jsonx.CheckInner(raw) == nil {
		return raw, nil
	}
	return jsonx.Marshal(map[string]any{"result": text})
}

// ErrorResponse returns the error of a tool as a function's response.
func ErrorResponse(text string) (json.RawMessage, error) {
	return jsonx.Marshal(map[string]any{"error": text})
}

// inputEvent returns the input with a content that was created from a message; "" for
// an answer to a call.
func inputEvent(messageID string, parts []content.Part) (session.Event, error) {
	raw, err := content.Content{Role: User, Parts: parts}.JSON()
	if err != nil {
		return session.Event{}, err
	}
	e := session.Event{Author: User, Fields: map[string]json.RawMessage{"content": raw}}
	return e, setOrigin(&e, origin{MessageID: messageID})
}

func setOrigin(e *session.Event, o origin) error {
	raw, err := jsonx.Marshal(o)
	e.Fields[run.FrontEndMember] = raw
	return err
}

// responsePart returns the response of a call as a part.
func responsePart(c *Call, value json.RawMessage) content.Part {
	return content.Answer(cmp.Or(c.GivenID, c.ID), c.Name, value)
}

// response returns the answer to a call as a function's response. A cancelled one has
// the result null, or says so if it is a tool's.
func (a Answer) response(c *Call) (json.RawMessage, error) {
	switch {
	case a.Cancelled && c.Name == InterruptCall:
		return json.RawMessage(`{"result":null}`), nil
	case a.Cancelled:
		return json.RawMessage(`{"status":"cancelled"}`), nil
	case jsonx.IsNull(a.Value):
		return json.RawMessage(`{}`), nil
	case jsonx.IsObject(a.Value):
		return a.Value, nil
	}
	return jsonx.Marshal(map[string]any{"result": a.Value})
}
