package task

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// maxViolations is how many violations of a task one response lists.
const maxViolations = 20

// shape collects the parts of a task in A2A form that readers could not decode.
type shape struct{ violations []fault.Violation }

// checkShape refuses a task with types that the protocol does not have, since every
// reader must be able to decode a stored task. A missing or null member counts as
// empty, except the state.
func checkShape(history, status, artifacts, metadata json.RawMessage) error {
	s := &shape{}
	if m := s.object(status, "/status"); m != nil {
		s.text(m, "/status", "state", "timestamp")
		if m.text("state") == "" && jsonx.IsNull(m["state"]) {
			s.refuse("/status/state", "is required")
		}
		if at := m.text("timestamp"); at != "" {
			if _, err := time.Parse(time.RFC3339, at); err != nil {
				s.refuse("/status/timestamp", "must be a time of RFC 3339")
			}
		}
		s.message(m["message"], "/status/message")
	} else if jsonx.IsNull(status) {
		s.refuse("/status/state", "is required")
	}
	for i, raw := range s.array(history, "/history") {
		at := "/history/" + strconv.Itoa(i)
		if jsonx.IsNull(raw) {
			s.refuse(at, "must be a message")
		}
		s.message(raw, at)
	}
	for i, raw := range s.array(artifacts, "/artifacts") {
		at := "/artifacts/" + strconv.Itoa(i)
		if jsonx.IsNull(raw) {
			s.refuse(at, "must be an artifact")
		}
		s.artifact(raw, at)
	}
	s.object(metadata, "/metadata")
	if len(s.violations) == 0 {
		return nil
	}
	first := s.violations[0]
	return &fault.Error{
		Kind: fault.Invalid, Detail: first.Pointer + " " + first.Detail, Violations: s.violations,
	}
}

func (s *shape) refuse(at, reason string) {
	if len(s.violations) < maxViolations {
		s.violations = append(s.violations, fault.Violation{Pointer: at, Detail: reason})
	}
}

// object returns the members of an object, nil if there is none.
func (s *shape) object(raw json.RawMessage, at string) members {
	if jsonx.IsNull(raw) {
		return nil
	}
	m := object(raw)
	if m == nil {
		s.refuse(at, "must be an object")
		return nil
	}
	var readable map[string]any
	if json.Unmarshal(raw, &readable) != nil {
		s.refuse(at, "holds a number that is too large")
	}
	return m
}

func (s *shape) array(raw json.RawMessage, at string) []json.RawMessage {
	var out []json.RawMessage
	if !jsonx.IsNull(raw) && json.Unmarshal(raw, &out) != nil {
		s.refuse(at, "must be an array")
	}
	return out
}

// text holds members to being strings.
func (s *shape) text(m members, at string, names ...string) {
	for _, name := range names {
		var text string
		if json.Unmarshal(orNull(m[name]), &text) != nil {
			s.refuse(at+"/"+name, "must be a string")
		}
	}
}

// texts checks that members are arrays of strings.
func (s *shape) texts(m members, at string, names ...string) {
	for _, name := range names {
		for i, raw := range s.array(m[name], at+"/"+name) {
			var text *string
			if json.Unmarshal(raw, &text) != nil || text == nil {
				s.refuse(at+"/"+name+"/"+strconv.Itoa(i), "must be a string")
			}
		}
	}
}

func (s *shape) message(raw json.RawMessage, at string) {
	m := s.object(raw, at)
	if m == nil {
		return
	}
	s.text(m, at, "kind", "messageId", "message_id", "role", "contextId", "context_id", "taskId", "task_id")
	if kind := m.text("kind"); kind != "" && kind != "message" {
		s.refuse(at+"/kind", "must be message")
	}
	s.texts(m, at, "extensions", "referenceTaskIds")
	s.object(m["metadata"], at+"/metadata")
	s.parts(m["parts"], at+"/parts")
}

func (s *shape) artifact(raw json.RawMessage, at string) {
	m := s.object(raw, at)
	if m == nil {
		return
	}
	s.text(m, at, "artifactId", "name", "description")
	s.texts(m, at, "extensions")
	s.object(m["metadata"], at+"/metadata")
	s.parts(m["parts"], at+"/parts")
}

func (s *shape) parts(raw json.RawMessage, at string) {
	for i, one := range s.array(raw, at) {
		at := at + "/" + strconv.Itoa(i)
		if jsonx.IsNull(one) {
			s.refuse(at, "must be a part")
			continue
		}
		if m := s.object(one, at); m != nil {
			s.part(m, at)
		}
	}
}

func (s *shape) part(m members, at string) {
	s.text(m, at, "kind", "text")
	if kind := m.text("kind"); kind != "" && !slices.Contains([]string{"text", "file", "data"}, kind) {
		s.refuse(at+"/kind", "must be one of text, file, data")
	}
	s.object(m["metadata"], at+"/metadata")
	if m.text("kind") == "data" {
		s.object(m["data"], at+"/data")
	}
	if m.text("kind") != "file" {
		return
	}
	file := s.object(m["file"], at+"/file")
	s.text(file, at+"/file", "name", "mimeType", "uri", "bytes")
	content := file.text("bytes")
	if (content == "") == (file.text("uri") == "") {
		s.refuse(at+"/file", "must have either bytes or uri")
	}
	if _, err := base64.StdEncoding.DecodeString(content); err != nil {
		s.refuse(at+"/file/bytes", "must be base64")
	}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
