package adk

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
)

// streamEvent is one line of a run's stream: an event of ADK's, or an error.
type streamEvent struct {
	ID      string          `json:"id"`
	Author  string          `json:"author"`
	Branch  string          `json:"branch"`
	Partial bool            `json:"partial"`
	Content content.Content `json:"-"`
	Actions struct {
		State     map[string]json.RawMessage `json:"state_delta"`
		Artifacts map[string]json.Number     `json:"artifact_delta"`
	} `json:"actions"`
	LongRunning []string `json:"long_running_tool_ids"`
	Code        string   `json:"error_code"`
	Message     string   `json:"error_message"`

	Error   json.RawMessage `json:"error"`
	Details struct {
		Type string `json:"error_type"`
	} `json:"error_details"`

	members map[string]json.RawMessage
}

// parseEvent parses a line, whose members are in camel case.
func parseEvent(raw []byte) (*streamEvent, error) {
	if !json.Valid(raw) || !jsonx.IsObject(raw) {
		return nil, fault.New(fault.Malformed, "must be an object")
	}
	raw = content.SnakeCase(raw)
	o, ok := &streamEvent{}, false
	if json.Unmarshal(raw, o) == nil && json.Unmarshal(raw, &o.members) == nil {
		o.Content, ok = content.Parse(o.members["content"])
	}
	if !ok {
		return nil, fault.New(fault.Malformed, "must have members of the types that events of ADK have")
	}
	if jsonx.IsNull(o.Error) && o.Author == "" {
		return nil, fault.New(fault.Malformed, "author is required")
	}
	return o, nil
}

func (o *streamEvent) sameSpeaker(other *streamEvent) bool {
	return o.Author == other.Author && o.Branch == other.Branch
}

// completes reports whether an event is the whole of the item that begun began.
func (o *streamEvent) completes(begun *streamEvent) bool {
	return o.ID == begun.ID || o.sameSpeaker(begun) && (len(o.Content.Parts) > 0 || o.Code != "")
}

// empty reports whether an event has nothing that a session would keep.
func (o *streamEvent) empty() bool {
	return len(o.Content.Parts) == 0 && len(o.Actions.State) == 0 && len(o.Actions.Artifacts) == 0 && o.Code == "" && o.isPlain()
}

// isPlain reports whether an event has no actions but changes.
func (o *streamEvent) isPlain() bool {
	var actions map[string]json.RawMessage
	_ = json.Unmarshal(o.members["actions"], &actions) // an object, or absent
	for name, raw := range actions {
		if name != "state_delta" && name != "artifact_delta" && !isEmpty(raw) {
			return false
		}
	}
	return isEmpty(o.members["output"])
}

func isEmpty(raw json.RawMessage) bool {
	return jsonx.IsNull(raw) || string(raw) == "{}" || string(raw) == "[]" || string(raw) == `{"path":""}`
}

// event returns the event as the session keeps it: with ADK's members, but without
// the empty ones, and without versions of artifacts, which are ADK's.
func (o *streamEvent) event(id, kept string) (json.RawMessage, error) {
	members := o.members
	for _, name := range []string{"id", "partial"} {
		delete(members, name)
	}
	var actions map[string]json.RawMessage
	_ = json.Unmarshal(members["actions"], &actions) // an object, or absent
	delete(actions, "artifact_delta")
	for name, raw := range actions {
		if isEmpty(raw) {
			delete(actions, name)
		}
	}
	var err error
	if members["actions"], err = jsonx.Marshal(actions); err != nil {
		return nil, fmt.Errorf("encode the actions: %w", err)
	}
	for name, raw := range members {
		if isEmpty(raw) {
			delete(members, name)
		}
	}
	if id != "" {
		if members["id"], err = jsonx.Marshal(id); err != nil {
			return nil, fmt.Errorf("encode the id: %w", err)
		}
	}
	if len(o.LongRunning) > 0 {
		if members[recordMember], err = jsonx.Marshal(record{SessionID: kept}); err != nil {
			return nil, fmt.Errorf("encode the record: %w", err)
		}
	}
	return jsonx.Marshal(members)
}

// problem returns the run's error. What ADK says is often the text of an exception,
// so it is for operators.
func (o *streamEvent) problem(redact func(string) string) *endpoint.Error {
	code, detail := o.Code, o.Message
	if !jsonx.IsNull(o.Error) {
		code, detail = o.Details.Type, string(o.Error)
	}
	failed := endpoint.NewError(run.CodeAgent, "the agent failed")
	if endpoint.PlainCode(code) {
		failed.Code, failed.Message = code, "the agent failed: "+code
	}
	return failed.Quote(redact(detail))
}

// artifactPart returns the part for an artifact: a file with its name, or words if
// it is too large or has no bytes.
func artifactPart(p content.Part, name string, version json.Number) content.Part {
	switch {
	case p.Inline != nil && content.IsBase64(p.Inline.Data):
		return content.Data(p.Inline.MIMEType, content.StandardBase64(p.Inline.Data), name)
	case p.File != nil:
		return content.Address(p.File.MIMEType, p.File.URI, name)
	case p.Text != nil:
		return content.Text(*p.Text)
	}
	return content.Text(fmt.Sprintf("[artifact %s, version %s]", name, version))
}
