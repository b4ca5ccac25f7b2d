package aguiconvert

import (
	"encoding/json"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Input is a request to run an agent, RunAgentInput.
type Input struct {
	conversation.Input

	// Old is set for clients of versions before 1.0, which declare no version.
	Old bool
}

// ParseInput parses the body of a request. Its errors are faults that name the
// member.
func ParseInput(body []byte) (in Input, err error) {
	o, err := jsonx.ParseBody(body)
	if err != nil {
		return in, err
	}
	in.SessionAt = o.Pointer("threadId")
	if in.SessionID, err = o.RequiredText("threadId"); err != nil {
		return in, err
	}
	if err = ids.Check(in.SessionAt, in.SessionID); err != nil {
		return in, err
	}
	if in.RunID, err = o.RequiredText("runId"); err != nil {
		return in, err
	}
	if err = ids.CheckNew("/runId", in.RunID); err != nil {
		return in, err
	}
	in.Old = jsonx.IsNull(o.Members["protocolVersion"])
	for _, take := range []func(jsonx.Object) error{in.takeState, in.takeMessages, in.takeResume, in.takeForwarded} {
		if err = take(o); err != nil {
			return in, err
		}
	}
	if in.Tools, err = objects(o, "tools"); err != nil {
		return in, err
	}
	in.Context, err = objects(o, "context")
	return in, err
}

// Results returns the calls whose responses are among the messages.
func (in Input) Results() map[string]bool {
	out := map[string]bool{}
	for _, m := range in.Messages {
		if m.Role == conversation.Tool {
			out[m.CallID] = true
		}
	}
	return out
}

// objects reads an optional array of objects.
func objects(o jsonx.Object, name string) ([]json.RawMessage, error) {
	items, err := o.Array(name)
	if err != nil {
		return nil, err
	}
	for i, raw := range items {
		if !jsonx.IsObject(raw) {
			return nil, fault.Field(fault.Malformed, o.Pointer(name)+"/"+strconv.Itoa(i), "must be an object")
		}
	}
	return items, nil
}

func (in *Input) takeState(o jsonx.Object) error {
	raw := o.Members["state"]
	if jsonx.IsNull(raw) {
		return nil
	}
	if json.Unmarshal(raw, &in.State) != nil {
		return fault.Field(fault.Invalid, "/state", "must be an object: a session's state has keys")
	}
	return nil
}

func (in *Input) takeMessages(o jsonx.Object) error {
	items, err := objects(o, "messages")
	if err != nil {
		return err
	}
	in.At = o.Pointer("messages")
	in.Messages = make([]conversation.Given, len(items))
	for i, raw := range items {
		at := in.At + "/" + strconv.Itoa(i)
		var m given
		switch {
		case json.Unmarshal(raw, &m) != nil:
			return fault.Field(fault.Malformed, at, "must be a message of AG-UI")
		case m.ID == "":
			return fault.Field(fault.Invalid, at+"/id", "is required")
		case m.Role == "":
			return fault.Field(fault.Invalid, at+"/role", "is required")
		}
		in.Messages[i] = m.message(at)
	}
	return nil
}

func (in *Input) takeResume(o jsonx.Object) error {
	items, err := objects(o, "resume")
	if err != nil {
		return err
	}
	in.AnswersAll, in.AnswersAt = true, o.Pointer("resume")
	in.Answers = make([]conversation.Answer, len(items))
	for i, raw := range items {
		at := o.Pointer("resume") + "/" + strconv.Itoa(i)
		var a struct {
			InterruptID string          `json:"interruptId"`
			Status      string          `json:"status"`
			Payload     json.RawMessage `json:"payload"`
		}
		switch {
		case json.Unmarshal(raw, &a) != nil || a.InterruptID == "":
			return fault.Field(fault.Malformed, at+"/interruptId", "is required")
		case a.Status != "resolved" && a.Status != "cancelled":
			return fault.Field(fault.Invalid, at+"/status", "must be resolved or cancelled")
		}
		in.Answers[i] = conversation.Answer{
			CallID: a.InterruptID, Cancelled: a.Status == "cancelled", Value: a.Payload, At: at + "/interruptId",
		}
	}
	return nil
}

func (in *Input) takeForwarded(o jsonx.Object) error {
	in.OnActive = run.Reject
	raw := o.Members["forwardedProps"]
	if jsonx.IsNull(raw) {
		return nil
	}
	in.ForwardedProps = raw
	if !jsonx.IsObject(raw) {
		return nil
	}
	props, err := jsonx.ParseObject(raw, "/forwardedProps")
	if err != nil {
		return err
	}
	own, options, err := conversation.ParseOptions(props)
	if err != nil {
		return err
	}
	in.Options = options
	in.Regenerate, err = own.Boolean("regenerate")
	return err
}
