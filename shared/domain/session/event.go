package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/ids"
)

// MaxBatch is how many events one append may contain.
const MaxBatch = 100

// MaxAuthor is the maximum length of an event's author, in characters.
const MaxAuthor = 128

// EventStatus is the progress of an event's production.
type EventStatus string

// The statuses of an event.
const (
	EventCompleted  EventStatus = "completed"
	EventInProgress EventStatus = "in_progress"
	EventFailed     EventStatus = "failed"
)

// Event is one immutable entry of a session's log. The store sets Seq, SessionID,
// Status and CreatedTime; everything else is the caller's.
type Event struct {
	Seq         int64
	SessionID   string
	Status      EventStatus
	CreatedTime int64

	ID           string
	InvocationID string
	Author       string
	Partial      bool
	StateDelta   Delta
	// ArtifactDelta maps artifacts to the versions that belong to the conversation
	// from this event on.
	ArtifactDelta map[string]int64
	// Fields contains all other members of the event, content and actions included.
	Fields map[string]json.RawMessage
	// TaskID is set on the entry that gives a task without events of its own a
	// position in the log. It is listed only with the whole log.
	TaskID string
	// Deltas is the number of deltas in the content of a streamed event.
	Deltas int64
}

// Actions are the parts of an event's actions that the store applies.
type Actions struct {
	StateDelta    Delta            `json:"state_delta"`
	ArtifactDelta map[string]int64 `json:"artifact_delta"`
}

// ParseEvent parses an event of a request; pointer is its JSON pointer.
func ParseEvent(raw json.RawMessage, pointer string) (Event, error) {
	o, err := jsonx.ParseObject(raw, pointer)
	if err != nil {
		return Event{}, err
	}
	return parseMembers(o.Members, pointer)
}

// ParseStored parses an event of valid JSON. Its members are parts of raw, which must not
// change any more.
func ParseStored(raw json.RawMessage) (Event, error) {
	members, ok := jsonx.Members(raw)
	if !ok {
		return Event{}, fault.Field(fault.Malformed, "", "must be an object")
	}
	return parseMembers(members, "")
}

func parseMembers(fields map[string]json.RawMessage, pointer string) (Event, error) {
	e := Event{Fields: fields}
	for _, name := range []string{"seq", "session_id", "created_time", "status"} {
		delete(fields, name)
	}
	var broken fault.Broken
	e.takeStrings(pointer, &broken)
	if p, ok := fields["partial"]; ok && json.Unmarshal(p, &e.Partial) != nil {
		broken.Add(fault.Field(fault.Malformed, pointer+"/partial", "must be a boolean"))
	}
	broken.Add(content.Check(fields["content"], pointer+"/content"))
	broken.Add(e.takeActions(pointer + "/actions"))
	if err := broken.Err(); err != nil {
		return Event{}, err
	}
	return e, nil
}

func (e *Event) takeStrings(pointer string, broken *fault.Broken) {
	for _, f := range []struct {
		name     string
		into     *string
		required bool
	}{{"id", &e.ID, false}, {"invocation_id", &e.InvocationID, true}, {"author", &e.Author, true}} {
		raw, ok := e.Fields[f.name]
		at := pointer + "/" + f.name
		if !ok || jsonx.IsNull(raw) {
			if f.required {
				broken.Add(fault.Field(fault.Malformed, at, "is required"))
			}
			delete(e.Fields, f.name)
			continue
		}
		if raw[0] != '"' {
			broken.Add(fault.Field(fault.Malformed, at, "must be a string"))
			continue
		}
		*f.into = jsonx.Text(raw)
		delete(e.Fields, f.name)
		if f.name == "author" {
			if n := utf8.RuneCountInString(e.Author); n == 0 || n > MaxAuthor {
				broken.Add(fault.Field(fault.Invalid, at, "must be 1 to %d characters", MaxAuthor))
			}
		} else {
			broken.Add(ids.Check(at, *f.into))
		}
	}
}

// CheckNew validates the ids of an event that is to be appended and was not in a
// log before; pointer is its JSON pointer.
func (e *Event) CheckNew(pointer string) error {
	if e.ID != "" {
		if err := ids.CheckNew(pointer+"/id", e.ID); err != nil {
			return err
		}
	}
	return ids.CheckNew(pointer+"/invocation_id", e.InvocationID)
}

// takeActions validates the actions and drops temporary keys, which are never
// stored, from the state delta.
func (e *Event) takeActions(pointer string) error {
	raw := e.Fields["actions"]
	if jsonx.IsNull(raw) {
		return nil
	}
	o, err := jsonx.ParseObject(raw, pointer)
	if err != nil {
		return err
	}
	members := o.Members
	var actions Actions
	if d := members["state_delta"]; !jsonx.IsNull(d) {
		if json.Unmarshal(d, &actions.StateDelta) != nil {
			return fault.Field(fault.Malformed, pointer+"/state_delta", "must be an object")
		}
	}
	if actions.ArtifactDelta, err = parseVersions(members["artifact_delta"], pointer+"/artifact_delta"); err != nil {
		return err
	}
	if err := actions.StateDelta.Validate(pointer + "/state_delta"); err != nil {
		return err
	}
	e.StateDelta, e.ArtifactDelta = actions.StateDelta.Stored(), actions.ArtifactDelta
	if len(e.StateDelta) == len(actions.StateDelta) {
		return nil
	}
	if members["state_delta"], err = json.Marshal(e.StateDelta); err != nil {
		return fmt.Errorf("state delta without temporary keys: %w", err)
	}
	e.Fields["actions"], err = json.Marshal(members)
	return err
}

func parseVersions(raw json.RawMessage, pointer string) (map[string]int64, error) {
	if jsonx.IsNull(raw) {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if !jsonx.IsObject(raw) || json.Unmarshal(raw, &members) != nil {
		return nil, fault.Field(fault.Malformed, pointer, "must map names to versions")
	}
	out := make(map[string]int64, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		version, ok := jsonx.Integer(members[name])
		if at := pointer + "/" + jsonx.EscapePointer(name); !ok {
			return nil, fault.Field(fault.Malformed, at, "must be an integer")
		} else if version < 0 {
			return nil, fault.Field(fault.Invalid, at, "must not be negative")
		}
		out[name] = version
	}
	return out, nil
}

// CreatedBy is the member that names the service that sent an event, and the user that
// it acted for.
const CreatedBy = "created_by"

// SameAs reports whether two events have the same content: an event with the same id and
// content is a redelivery. The order of members, the sender and the worker that stored them
// do not matter.
func (e Event) SameAs(other Event) bool {
	return e.InvocationID == other.InvocationID && e.Author == other.Author &&
		reflect.DeepEqual(canonical(e.Fields), canonical(other.Fields))
}

func canonical(fields map[string]json.RawMessage) map[string]any {
	out := make(map[string]any, len(fields))
	for name, raw := range fields {
		if v := jsonx.Canonical(raw); v != nil && name != CreatedBy && name != continuation {
			out[name] = v
		}
	}
	return out
}

// Own returns the event as it is stored in the log: the caller's members and the
// id.
func (e Event) Own() json.RawMessage {
	return e.render(func(put func(string, any)) { put("id", e.ID) })
}

// MarshalJSON encodes the event in its external form.
func (e Event) MarshalJSON() ([]byte, error) {
	return e.AppendJSON(make([]byte, 0, e.Size())), nil
}

// AppendJSON appends the event in its external form. Its members are as they came, with
// their white space.
func (e Event) AppendJSON(to []byte) []byte {
	to = jsonx.AppendString(append(to, `{"id":`...), e.ID)
	to = strconv.AppendInt(append(to, `,"seq":`...), e.Seq, 10)
	to = jsonx.AppendString(append(to, `,"session_id":`...), e.SessionID)
	to = jsonx.AppendString(append(to, `,"status":`...), string(e.Status))
	to = strconv.AppendInt(append(to, `,"created_time":`...), e.CreatedTime, 10)
	if e.TaskID != "" {
		to = jsonx.AppendString(append(to, `,"type":"task","task_id":`...), e.TaskID)
	}
	to = jsonx.AppendString(append(to, `,"invocation_id":`...), e.InvocationID)
	to = jsonx.AppendString(append(to, `,"author":`...), e.Author)
	for _, name := range e.names() {
		to = append(jsonx.AppendString(append(to, ','), name), ':')
		raw := e.Fields[name]
		if shown := always[name]; shown != "" && jsonx.IsNull(raw) {
			raw = json.RawMessage(shown)
		}
		to = append(to, raw...)
	}
	return append(to, '}')
}

// always is the members that each event shows, with their value if it has none.
var always = map[string]string{"content": "null", "actions": "{}"} //nolint:gochecknoglobals // never changed

// names returns the other members of the event as it is shown, in order.
func (e Event) names() []string {
	names := make([]string, 0, len(e.Fields)+len(always))
	for name := range e.Fields {
		names = append(names, name)
	}
	for name := range always {
		if _, ok := e.Fields[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Stored returns the event with all members that the store sets; MarshalJSON also
// adds the members that callers expect in every event.
func (e Event) Stored() json.RawMessage { return e.render(e.head) }

func (e Event) head(put func(string, any)) {
	put("id", e.ID)
	put("seq", e.Seq)
	put("session_id", e.SessionID)
	put("status", e.Status)
	put("created_time", e.CreatedTime)
	if e.TaskID != "" {
		put("type", "task")
		put("task_id", e.TaskID)
	}
}

// With returns the event with one of its other members replaced.
func (e Event) With(name string, value json.RawMessage) Event {
	fields := make(map[string]json.RawMessage, len(e.Fields)+1)
	maps.Copy(fields, e.Fields)
	fields[name] = value
	e.Fields = fields
	return e
}

// Without returns the event without one of its members.
func (e Event) Without(name string) Event {
	e.Fields = maps.Clone(e.Fields)
	delete(e.Fields, name)
	return e
}

func (e Event) render(head func(put func(string, any))) json.RawMessage {
	var buf bytes.Buffer
	put := func(name string, v any) {
		sep := byte(',')
		if buf.Len() == 0 {
			sep = '{'
		}
		buf.WriteByte(sep)
		writeJSON(&buf, name)
		buf.WriteByte(':')
		writeJSON(&buf, v)
	}
	head(put)
	put("invocation_id", e.InvocationID)
	put("author", e.Author)
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		put(name, e.Fields[name])
	}
	buf.WriteByte('}')
	return buf.Bytes()
}

// writeJSON appends a value. A value that cannot be encoded is a broken invariant:
// all values were decoded from JSON.
func writeJSON(buf *bytes.Buffer, v any) {
	text, err := jsonx.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	buf.Write(text)
}

// Size returns the approximate size of the event as JSON, in bytes.
func (e Event) Size() int {
	n := 320 + len(e.Author)
	for name, raw := range e.Fields {
		n += len(name) + len(raw) + 4
	}
	return n
}
