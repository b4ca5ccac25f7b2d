// Package cloudevent encodes events as CloudEvents 1.0 in the structured mode of
// JSON (https://github.com/cloudevents/spec, JSON event format) for webhooks and
// event buses. Events refer to facts and contain no content of conversations.
package cloudevent

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// ContentType is the media type of what Encode returns.
const ContentType = "application/cloudevents+json"

const (
	specVersion = "1.0"
	dataType    = "application/json"
	// timeLayout is RFC 3339 with milliseconds, the resolution of events.
	timeLayout = "2006-01-02T15:04:05.000Z07:00"
	base       = "/api/v1"
)

type envelope struct {
	SpecVersion string `json:"specversion"`
	ID          string `json:"id"`
	Source      string `json:"source"`
	Type        string `json:"type"`
	Subject     string `json:"subject,omitempty"`
	Time        string `json:"time"`
	DataType    string `json:"datacontenttype"`
	Data        Data   `json:"data"`
}

// Data is the data of an event. Members that do not apply to its type are absent.
type Data struct {
	UserID    string `json:"user_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Agent     string `json:"agent,omitempty"`
	RunID     string `json:"run_id,omitempty"`
	TaskID    string `json:"task_id,omitempty"`
	// Seq is the event's position in the session's log.
	Seq      int64     `json:"seq,omitempty"`
	Artifact *Artifact `json:"artifact,omitempty"`
	Feedback *Feedback `json:"feedback,omitempty"`
	// SourceSessionID is the forked session.
	SourceSessionID string `json:"source_session_id,omitempty"`
	// Before is the invocation before which a session was rewound or forked;
	// absent for a fork of everything.
	Before string `json:"rewind_before_invocation_id,omitempty"`
	Error  *Error `json:"error,omitempty"`
}

// Artifact identifies a version.
type Artifact struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// Feedback is a user's rating: up or down.
type Feedback struct {
	Type string `json:"type"`
}

// Error is a run's failure.
type Error struct {
	Code string `json:"code"`
}

// Encode encodes an event. The same event yields the same bytes.
func Encode(e delivery.Event) ([]byte, error) {
	body, err := jsonx.Marshal(envelope{
		SpecVersion: specVersion, ID: e.ID, Source: source(e), Type: string(e.Type), Subject: subject(e),
		Time: time.UnixMilli(e.Time).UTC().Format(timeLayout), DataType: dataType, Data: dataOf(e),
	})
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	return body, nil
}

// source returns the session's path in the API, or its parent's without a session.
// It is a relative URI reference, since a deployment may have several addresses.
func source(e delivery.Event) string {
	if e.SessionID == "" {
		return base
	}
	return base + "/sessions/" + url.PathEscape(e.SessionID)
}

// subject returns the object within the session that the event is about, as a path
// below the source.
func subject(e delivery.Event) string {
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

func dataOf(e delivery.Event) Data {
	d := Data{
		UserID: e.UserID, SessionID: e.SessionID, Agent: e.Agent, RunID: e.RunID, TaskID: e.TaskID, Seq: e.Seq,
		SourceSessionID: e.Source, Before: e.Before,
	}
	if e.Artifact != "" {
		d.Artifact = &Artifact{Name: e.Artifact, Version: e.Version}
	}
	if e.Feedback != "" {
		d.Feedback = &Feedback{Type: e.Feedback}
	}
	if e.Error != "" {
		d.Error = &Error{Code: e.Error}
	}
	return d
}
