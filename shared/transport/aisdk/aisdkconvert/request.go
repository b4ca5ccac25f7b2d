package aisdkconvert

import (
	"encoding/json"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Request is the body that DefaultChatTransport sends.
type Request struct {
	ID         string  // the session's
	Messages   []Given // all, or only the last one
	Regenerate bool
	MessageID  string // that was edited or is answered again; may be empty
	RunID      string // "" derives it
	OnActive   run.OnActive
	Append     bool
}

// Given is a message of a request.
type Given struct {
	ID    string      `json:"id"`
	Role  string      `json:"role"`
	Parts []GivenPart `json:"parts"`

	at string // its JSON pointer
}

// GivenPart is a part of a message: a text, a file, or a call with what the front end
// answers.
type GivenPart struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	URL        string `json:"url"`
	MediaType  string `json:"mediaType"`
	Filename   string `json:"filename"`
	ToolCallID string `json:"toolCallId"`
	// ProviderExecuted is set for a call that the agent itself answers.
	ProviderExecuted bool `json:"providerExecuted"`

	State     string          `json:"state"`
	Output    json.RawMessage `json:"output"`
	ErrorText string          `json:"errorText"`
	Approval  struct {
		Approved bool   `json:"approved"`
		Reason   string `json:"reason,omitempty"`
	} `json:"approval"`
}

// ParseRequest parses the body of a request. Its errors are faults that name the
// member.
func ParseRequest(body []byte) (r Request, err error) {
	o, err := jsonx.ParseBody(body)
	if err != nil {
		return r, err
	}
	if r.ID, err = o.RequiredText("id"); err != nil {
		return r, err
	}
	if err = ids.Check("/id", r.ID); err != nil {
		return r, err
	}
	if r.MessageID, err = o.Text("messageId"); err != nil {
		return r, err
	}
	trigger, err := o.Choice("trigger", "submit-message", "regenerate-message")
	if err != nil {
		return r, err
	}
	r.Regenerate = trigger == "regenerate-message"
	if err = r.takeMessages(o); err != nil {
		return r, err
	}
	return r, r.takeOwn(o)
}

// takeMessages reads messages or, as the SDK's guide has it, message, the last of them.
// A request that answers a message again may leave them out.
func (r *Request) takeMessages(o jsonx.Object) error {
	items, err := o.Array("messages")
	if err != nil {
		return err
	}
	at := func(i int) string { return o.Pointer("messages") + "/" + strconv.Itoa(i) }
	if raw := o.Members["message"]; jsonx.IsNull(o.Members["messages"]) && !jsonx.IsNull(raw) {
		items = []json.RawMessage{raw}
		at = func(int) string { return o.Pointer("message") }
	} else if jsonx.IsNull(o.Members["messages"]) && !r.Regenerate {
		return fault.Field(fault.Invalid, o.Pointer("messages"), "is required, or message with the last one")
	}
	r.Messages = make([]Given, len(items))
	for i, raw := range items {
		m := &r.Messages[i]
		if !jsonx.IsObject(raw) || json.Unmarshal(raw, m) != nil {
			return fault.Field(fault.Malformed, at(i), "must be a message of the AI SDK with parts")
		}
		if m.at = at(i); m.ID == "" {
			return fault.Field(fault.Invalid, m.at+"/id", "is required")
		}
		if m.Role == "" {
			return fault.Field(fault.Invalid, m.at+"/role", "is required")
		}
	}
	return nil
}

// takeOwn reads the member rethread.
func (r *Request) takeOwn(o jsonx.Object) error {
	own, options, err := conversation.ParseOptions(o)
	if err != nil {
		return err
	}
	r.OnActive, r.Append = options.OnActive, options.Append
	if r.RunID, err = own.Text("run_id"); err != nil || r.RunID == "" {
		return err
	}
	return ids.CheckNew("/rethread/run_id", r.RunID)
}
