package archive

import (
	"encoding/json"
	"math"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// The largest method and path of a request to an agent, in bytes.
const (
	maxMethod = 32
	maxPath   = 8 << 10
)

// parseEvent parses an event as Writer writes it.
func parseEvent(raw json.RawMessage, pointer string) (Event, error) {
	var own struct {
		ID          string              `json:"id"`
		Seq         int64               `json:"seq"`
		Status      session.EventStatus `json:"status"`
		CreatedTime int64               `json:"created_time"`
		Log         *Log                `json:"_log"`
	}
	if err := decode(raw, &own, pointer); err != nil {
		return Event{}, err
	}
	plain, err := session.ParseEvent(raw, pointer)
	if err != nil {
		return Event{}, err
	}
	e := Event{Event: plain}
	if own.Log != nil {
		e.Log = *own.Log
	}
	delete(e.Fields, logMember)
	if len(e.Log.Own) > 0 {
		e.Fields[logMember] = e.Log.Own
	}
	e.Seq, e.Status, e.CreatedTime = own.Seq, own.Status, own.CreatedTime
	if e.Log.Task != "" {
		e.TaskID = e.Log.Task
		delete(e.Fields, "type")
		delete(e.Fields, "task_id")
	}
	return e, e.check(pointer)
}

func (e *Event) check(pointer string) error {
	if e.ID == "" {
		return fault.Field(fault.Malformed, pointer+"/id", "is required")
	}
	if err := checkIDs(&e.Event, pointer); err != nil {
		return err
	}
	if e.Partial {
		return fault.Field(fault.Invalid, pointer+"/partial", "must not be true: such events are not stored")
	}
	switch e.Status {
	case "":
		e.Status = session.EventCompleted
	case session.EventCompleted, session.EventFailed:
	default:
		return fault.Field(fault.Invalid, pointer+"/status", "must be completed or failed")
	}
	for name, id := range map[string]string{"task": e.Log.Task, "began": e.Log.Began, "ended": e.Log.Ended} {
		if id == "" {
			continue
		}
		if err := ids.CheckSegment(pointer+"/_log/"+name, id); err != nil {
			return err
		}
	}
	if e.Log.Deltas < 0 || e.Log.ToSeq < 0 {
		return fault.Field(fault.Invalid, pointer+"/_log", "must not hold negative numbers")
	}
	if e.Log.Ended != "" && jsonx.IsNull(e.Fields["run"]) {
		return fault.Field(fault.Invalid, pointer+"/run", "is required of the event that ends a run")
	}
	return checkTime(pointer+"/created_time", e.CreatedTime)
}

// checkIDs refuses ids that no request could name. An event may be without an id.
func checkIDs(e *session.Event, pointer string) error {
	if e.ID != "" {
		if err := ids.CheckSegment(pointer+"/id", e.ID); err != nil {
			return err
		}
	}
	return ids.CheckSegment(pointer+"/invocation_id", e.InvocationID)
}

func parseTask(raw json.RawMessage, pointer string) (Task, error) {
	var t Task
	if err := decode(raw, &t, pointer); err != nil {
		return t, err
	}
	if err := ids.CheckSegment(pointer+"/task_id", t.ID); err != nil {
		return t, err
	}
	var bubbles []json.RawMessage
	if err := decode(t.Bubbles, &bubbles, pointer+"/message_bubbles"); err != nil {
		return t, err
	}
	var text *string
	if len(t.UserMessage) > 0 && json.Unmarshal(t.UserMessage, &text) != nil {
		return t, fault.Field(fault.Malformed, pointer+"/user_message", "must be a string or null")
	}
	var metadata map[string]json.RawMessage
	if len(t.Metadata) > 0 && json.Unmarshal(t.Metadata, &metadata) != nil {
		return t, fault.Field(fault.Malformed, pointer+"/task_metadata", "must be an object or null")
	}
	whole := task.Task{ID: t.ID, UserMessage: t.UserMessage, Bubbles: t.Bubbles, Metadata: t.Metadata}
	if whole.Size() > task.MaxSize {
		return t, fault.Field(fault.Invalid, pointer, "must be at most %d bytes", task.MaxSize)
	}
	if t.First != "" {
		if err := ids.CheckSegment(pointer+"/first", t.First); err != nil {
			return t, err
		}
	}
	for id, place := range t.Places {
		if err := ids.CheckSegment(pointer+"/places", id); err != nil {
			return t, err
		}
		if place < 0 {
			return t, fault.Field(fault.Invalid, pointer+"/places/"+jsonx.EscapePointer(id), "must not be negative")
		}
	}
	if t.Place < 1 {
		return t, fault.Field(fault.Invalid, pointer+"/place", "must be the seq of an event")
	}
	if err := checkTime(pointer+"/created_time", t.CreatedTime); err != nil {
		return t, err
	}
	return t, checkTime(pointer+"/updated_time", t.UpdatedTime)
}

func parseFeedback(raw json.RawMessage, pointer string) (Feedback, error) {
	var f Feedback
	if err := decode(raw, &f, pointer); err != nil {
		return f, err
	}
	if err := ids.CheckSegment(pointer+"/task_id", f.TaskID); err != nil {
		return f, err
	}
	if err := task.CheckFeedbackType(pointer+"/type", f.Type); err != nil {
		return f, err
	}
	if utf8.RuneCountInString(f.Text) > task.MaxFeedbackText {
		return f, fault.Field(fault.Invalid, pointer+"/text", "must be at most %d characters", task.MaxFeedbackText)
	}
	return f, checkTime(pointer+"/created_time", f.CreatedTime)
}

func parseArtifact(raw json.RawMessage, pointer string) (Artifact, error) {
	var a Artifact
	if err := decode(raw, &a, pointer); err != nil {
		return a, err
	}
	if err := artifact.CheckName(pointer+"/name", a.Name); err != nil {
		return a, err
	}
	if a.Version < 0 || a.Version > artifact.MaxVersion {
		return a, fault.Field(fault.Invalid, pointer+"/version", "must be 0 to %d", artifact.MaxVersion)
	}
	if a.MimeType != "" && !artifact.IsMimeType(a.MimeType) {
		return a, fault.Field(fault.Invalid, pointer+"/mime_type", "must be a media type of at most %d characters", artifact.MaxMimeType)
	}
	if a.Size < 0 || a.Size > artifact.MaxSize || len(a.Data) > artifact.MaxSize {
		return a, fault.Field(fault.Invalid, pointer+"/size", "must be at most %d bytes", artifact.MaxSize)
	}
	if a.Holds() && a.Size != int64(len(a.Data)) {
		return a, fault.Field(fault.Invalid, pointer+"/size", "must be the number of bytes of data: %d", len(a.Data))
	}
	if a.Restored != nil && (*a.Restored < 0 || *a.Restored >= a.Version) {
		return a, fault.Field(fault.Invalid, pointer+"/restored", "must be an earlier version")
	}
	return a, checkTime(pointer+"/created_time", a.CreatedTime)
}

func parseRequest(raw json.RawMessage, pointer string) (Request, error) {
	var of struct {
		Run string `json:"run_id"`
	}
	var r Request
	if err := decode(raw, &of, pointer); err != nil {
		return r, err
	}
	if err := decode(raw, &r.SentRequest, pointer); err != nil {
		return r, err
	}
	r.Run = of.Run
	if err := ids.CheckSegment(pointer+"/run_id", r.Run); err != nil {
		return r, err
	}
	for name, of := range map[string]struct{ n, least, most int64 }{
		"number":       {int64(r.Number), 1, run.MaxSent},
		"continuation": {int64(r.Continuation), 0, run.MaxContinuations},
		"size":         {r.Size, int64(len(r.Body)), math.MaxInt64},
	} {
		if of.n < of.least || of.n > of.most {
			return r, fault.Field(fault.Invalid, pointer+"/"+name, "must be %d to %d", of.least, of.most)
		}
	}
	for name, of := range map[string]struct {
		text string
		most int
	}{
		"method": {r.Method, maxMethod}, "path": {r.Path, maxPath}, "body": {r.Body, run.MaxSentBody},
	} {
		if len(of.text) > of.most {
			return r, fault.Field(fault.Invalid, pointer+"/"+name, "must be at most %d bytes", of.most)
		}
	}
	if err := checkTime(pointer+"/sent_time", r.SentTime); err != nil {
		return r, err
	}
	return r, checkTime(pointer+"/expires_time", r.ExpiresTime)
}

// Holds reports whether the version has bytes of its own, possibly none.
func (a Artifact) Holds() bool { return !a.Gone && !a.Missing && a.Restored == nil }
