package notification

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// CloudEventType is the media type of what EncodeCloudEvent returns.
const CloudEventType = "application/cloudevents+json"

const (
	specVersion = "1.0"
	dataType    = "application/json"
	// timeLayout is RFC 3339 with milliseconds, the resolution of events.
	timeLayout = "2006-01-02T15:04:05.000Z07:00"
	apiBase    = "/api/v1"
)

type cloudEvent struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject,omitempty"`
	Time        string    `json:"time"`
	DataType    string    `json:"datacontenttype"`
	Data        EventData `json:"data"`
}

// EventData is the data of an event. Members that do not apply to its type are absent.
type EventData struct {
	UserID    string `json:"user_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Agent     string `json:"agent,omitempty"`
	RunID     string `json:"run_id,omitempty"`
	TaskID    string `json:"task_id,omitempty"`
	// Seq is the event's position in the session's log.
	Seq      int64         `json:"seq,omitempty"`
	Artifact *ArtifactData `json:"artifact,omitempty"`
	Feedback *FeedbackData `json:"feedback,omitempty"`
	// SourceSessionID is the forked session.
	SourceSessionID string `json:"source_session_id,omitempty"`
	// Before is the invocation before which a session was rewound or forked;
	// absent for a fork of everything.
	Before string     `json:"rewind_before_invocation_id,omitempty"`
	Error  *ErrorData `json:"error,omitempty"`
}

// ArtifactData identifies a version.
type ArtifactData struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// FeedbackData is a user's rating: up or down.
type FeedbackData struct {
	Type string `json:"type"`
}

// ErrorData is a run's failure.
type ErrorData struct {
	Code string `json:"code"`
}

// EncodeCloudEvent encodes an event as a CloudEvent 1.0 in the structured mode of JSON
// (https://github.com/cloudevents/spec, JSON event format). It refers to facts and
// contains no content of conversations. The same event yields the same bytes.
func EncodeCloudEvent(e Event) ([]byte, error) {
	body, err := jsonx.Marshal(cloudEvent{
		SpecVersion: specVersion, ID: e.ID, Source: sourceOf(e), Type: string(e.Type), Subject: subjectOf(e),
		Time: time.UnixMilli(e.Time).UTC().Format(timeLayout), DataType: dataType, Data: dataOf(e),
	})
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	return body, nil
}

// sourceOf returns the session's path in the API, or its parent's without a session.
// It is a relative URI reference, since a deployment may have several addresses.
func sourceOf(e Event) string {
	if e.SessionID == "" {
		return apiBase
	}
	return apiBase + "/sessions/" + url.PathEscape(e.SessionID)
}

// subjectOf returns the object within the session that the event is about, as a path
// below the source.
func subjectOf(e Event) string {
	switch {
	case e.Artifact != "":
		return "artifacts/" + url.PathEscape(e.Artifact) + "?version=" + strconv.FormatInt(e.Version, 10)
	case e.TaskID != "":
		return "tasks/" + url.PathEscape(e.TaskID)
	case e.RunID != "":
		return "runs/" + url.PathEscape(e.RunID)
	default:
		return ""
	}
}

func dataOf(e Event) EventData {
	d := EventData{
		UserID: e.UserID, SessionID: e.SessionID, Agent: e.Agent, RunID: e.RunID, TaskID: e.TaskID, Seq: e.Seq,
		SourceSessionID: e.Source, Before: e.Before,
	}
	if e.Artifact != "" {
		d.Artifact = &ArtifactData{Name: e.Artifact, Version: e.Version}
	}
	if e.Feedback != "" {
		d.Feedback = &FeedbackData{Type: e.Feedback}
	}
	if e.Error != "" {
		d.Error = &ErrorData{Code: e.Error}
	}
	return d
}
