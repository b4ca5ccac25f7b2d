package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

// maxTime is the last time that fits into keys, in epoch milliseconds: the year
// 2286.
const maxTime = 9_999_999_999_999

// Parse parses a document, or a part of one, and validates each member by itself. A
// fault names the member by a JSON pointer.
func Parse(raw []byte) (*Part, error) {
	var compact bytes.Buffer // content that was stored without white space is restored without it
	if json.Compact(&compact, raw) != nil {
		compact.Reset()
	}
	o, err := jsonx.ParseObject(compact.Bytes(), "")
	if err != nil {
		return nil, err
	}
	members := o.Members
	var format string
	if err := decode(members["format"], &format, "/format"); err != nil {
		return nil, err
	}
	if format != Format {
		return nil, fault.Field(fault.Invalid, "/format", "must be %q", Format)
	}
	p := &Part{}
	if !jsonx.IsNull(members["session"]) {
		if p.Head, err = parseHead(members); err != nil {
			return nil, err
		}
	}
	if p.Events, err = parseList(members, "events", parseEvent); err != nil {
		return nil, err
	}
	if p.Tasks, err = parseList(members, "tasks", parseTask); err != nil {
		return nil, err
	}
	if p.Feedback, err = parseList(members, "feedback", parseFeedback); err != nil {
		return nil, err
	}
	if p.Artifacts, err = parseList(members, "artifacts", parseArtifact); err != nil {
		return nil, err
	}
	if p.Requests, err = parseList(members, "requests", parseRequest); err != nil {
		return nil, err
	}
	if s := members["state"]; !jsonx.IsNull(s) {
		if p.State, err = parseState(s); err != nil {
			return nil, err
		}
	}
	if c, ok := members["complete"]; ok {
		if err := decode(c, &p.Complete, "/complete"); err != nil {
			return nil, err
		}
	}
	if p.Complete && p.State == nil {
		return nil, fault.Field(fault.Malformed, "/state", "is required where the document is complete")
	}
	return p, nil
}

// decode decodes a member; the fault names the member within it that has the wrong
// type.
func decode(raw json.RawMessage, into any, pointer string) error {
	if len(raw) == 0 {
		return fault.Field(fault.Malformed, pointer, "is required")
	}
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		pointer += "/" + strings.ReplaceAll(wrong.Field, ".", "/")
	}
	return fault.Field(fault.Malformed, pointer, "has the wrong type")
}

func parseList[T any](
	members map[string]json.RawMessage, name string, parse func(json.RawMessage, string) (T, error),
) ([]T, error) {
	raw, ok := members[name]
	if !ok {
		return nil, nil
	}
	var items []json.RawMessage
	if err := decode(raw, &items, "/"+name); err != nil {
		return nil, err
	}
	out := make([]T, len(items))
	for i, item := range items {
		var err error
		if out[i], err = parse(item, "/"+name+"/"+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func parseHead(members map[string]json.RawMessage) (*Head, error) {
	h := &Head{}
	for name, into := range map[string]any{
		"session": &h.Session, "taken_over": &h.TakenOver, "branched": &h.Branched,
		"spent_run_id": &h.SpentRun, "kept_run_id": &h.KeptRun, "timeline": &h.Timeline,
	} {
		if _, ok := members[name]; !ok && name != "session" {
			continue
		}
		if err := decode(members[name], into, "/"+name); err != nil {
			return nil, err
		}
	}
	s := &h.Session
	n := session.New{
		ID: s.ID, AppName: s.AppName, Agent: s.Agent, Name: s.Name, Metadata: s.Metadata,
	}
	if err := under("/session", n.Validate()); err != nil {
		return nil, err
	}
	s.AppName, s.Metadata = n.AppName, n.Metadata
	for name, at := range map[string]int64{"created_time": s.CreatedTime, "updated_time": s.UpdatedTime} {
		if err := checkTime("/session/"+name, at); err != nil {
			return nil, err
		}
	}
	switch s.Status {
	case session.Idle, session.Failed:
	case session.InProgress:
		return nil, fault.Field(fault.Invalid, "/session/status", "must not be in_progress")
	default:
		return nil, fault.Field(fault.Malformed, "/session/status", "must be idle or failed")
	}
	for name, id := range map[string]string{"spent_run_id": h.SpentRun, "kept_run_id": h.KeptRun} {
		if id == "" {
			continue
		}
		if err := ids.CheckSegment("/"+name, id); err != nil {
			return nil, err
		}
	}
	if h.TakenOver < 0 || h.TakenOver > s.HeadSeq {
		return nil, fault.Field(fault.Invalid, "/taken_over", "must lie within the log")
	}
	return h, nil
}

// under adds a prefix to the pointers of a fault.
func under(prefix string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	moved := *f
	moved.Violations = nil
	for _, v := range f.Violations {
		moved.Violations = append(moved.Violations, fault.Violation{Pointer: prefix + v.Pointer, Detail: v.Detail})
	}
	if len(moved.Violations) > 0 {
		moved.Detail = fmt.Sprint(moved.Violations[0].Pointer, " ", moved.Violations[0].Detail)
	}
	return &moved
}

func checkTime(pointer string, millis int64) error {
	if millis < 0 || millis > maxTime {
		return fault.Field(fault.Invalid, pointer, "must be a time in epoch milliseconds")
	}
	return nil
}

func parseState(raw json.RawMessage) (*State, error) {
	s := &State{}
	if err := decode(raw, s, "/state"); err != nil {
		return nil, err
	}
	for scope, values := range map[session.Scope]session.Values{
		session.ScopeSession: s.Session, session.ScopeUser: s.User, session.ScopeApp: s.App,
	} {
		d := session.Delta{}
		for name, v := range values {
			if jsonx.IsNull(v) {
				return nil, fault.Field(fault.Invalid, "/state", "must not hold null")
			}
			d[scope.Prefix()+name] = v
		}
		if err := d.Validate("/state"); err != nil {
			return nil, err
		}
		if err := values.CheckSize(scope); err != nil {
			return nil, err
		}
	}
	return s, nil
}
