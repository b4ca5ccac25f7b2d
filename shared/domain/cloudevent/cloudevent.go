// Package cloudevent writes what happened as CloudEvents 1.0 in the structured
// mode of JSON (https://github.com/cloudevents/spec, JSON event format): what
// webhooks and event buses are sent. It says facts by reference, and no words of
// anybody's.
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
	// timeLayout is RFC 3339 in milliseconds, which is how exact events are.
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

// Data is what an event says. Members that its type has nothing to say in are
// absent.
type Data struct {
	UserID    string `json:"user_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Agent     string `json:"agent,omitempty"`
	RunID     string `json:"run_id,omitempty"`
	TaskID    string `json:"task_id,omitempty"`
	// Seq is the position of the session's log that the event stands at.
	Seq      int64     `json:"seq,omitempty"`
	Artifact *Artifact `json:"artifact,omitempty"`
	Feedback *Feedback `json:"feedback,omitempty"`
	// SourceSessionID is the session that was forked.
	SourceSessionID string `json:"source_session_id,omitempty"`
	// Before is the invocation before which a session was rewound or forked;
	// absent for a fork of everything.
	Before string `json:"rewind_before_invocation_id,omitempty"`
	Error  *Error `json:"error,omitempty"`
}

// Artifact names a version.
type Artifact struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// Feedback is what somebody thought: up or down.
type Feedback struct {
	Type string `json:"type"`
}

// Error is why a run failed.
type Error struct {
	Code string `json:"code"`
}

// Encode writes an event. The same event gives the same bytes.
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

// source is the session's path in the API, or what stands above where there is
// none: a URI reference, as it is the same at every address of a deployment.
func source(e delivery.Event) string {
	if e.SessionID == "" {
		return base
	}
	return base + "/sessions/" + url.PathEscape(e.SessionID)
}

// subject is what the event is about inside its session, as a path below the
// source.
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
