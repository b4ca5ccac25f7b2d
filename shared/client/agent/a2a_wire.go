package agent

import (
	"encoding/json"
	"strings"
)

// The types below are what this package reads of A2A, versions 1.0 and 0.3. They keep
// data as JSON text, because a number beyond 2^53 would not survive being decoded.

type a2aMetadata map[string]json.RawMessage

// flag reports whether one of the members is true.
func (m a2aMetadata) flag(names ...string) bool {
	for _, name := range names {
		if string(m[name]) == "true" {
			return true
		}
	}
	return false
}

// text returns the first of the members that is a string.
func (m a2aMetadata) text(names ...string) string {
	for _, name := range names {
		var s string
		if json.Unmarshal(m[name], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// a2aPart has the members of a part of both versions.
type a2aPart struct {
	Text      *string         `json:"text"`
	Data      json.RawMessage `json:"data"`
	Raw       *string         `json:"raw"` // base64
	URL       string          `json:"url"`
	Filename  string          `json:"filename"`
	MediaType string          `json:"mediaType"`
	File      *struct {       // of 0.3
		Bytes    *string `json:"bytes"`
		URI      string  `json:"uri"`
		Name     string  `json:"name"`
		MIMEType string  `json:"mimeType"`
	} `json:"file"`
	Metadata a2aMetadata `json:"metadata"`
}

type a2aMessage struct {
	ID        string      `json:"messageId"`
	ContextID string      `json:"contextId"`
	TaskID    string      `json:"taskId"`
	Role      string      `json:"role"`
	Parts     []a2aPart   `json:"parts"`
	Metadata  a2aMetadata `json:"metadata"`
}

func (m a2aMessage) fromUser() bool { return strings.HasSuffix(strings.ToLower(m.Role), "user") }

type a2aArtifact struct {
	ID    string    `json:"artifactId"`
	Parts []a2aPart `json:"parts"`
}

type a2aStatus struct {
	State   a2aState    `json:"state"`
	Message *a2aMessage `json:"message"`
}

type a2aTask struct {
	ID        string        `json:"id"`
	ContextID string        `json:"contextId"`
	Status    a2aStatus     `json:"status"`
	Artifacts []a2aArtifact `json:"artifacts"`
	History   []a2aMessage  `json:"history"`
}

// a2aUpdate is an update of a task's status, or of one of its artifacts.
type a2aUpdate struct {
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Status    *a2aStatus   `json:"status"`
	Artifact  *a2aArtifact `json:"artifact"`
	Append    bool         `json:"append"`
	Metadata  a2aMetadata  `json:"metadata"`
}

// a2aResult is one result of a request; exactly one member is set.
type a2aResult struct {
	Task           *a2aTask    `json:"task"`
	Message        *a2aMessage `json:"message"`
	StatusUpdate   *a2aUpdate  `json:"statusUpdate"`
	ArtifactUpdate *a2aUpdate  `json:"artifactUpdate"`
}

// a2aState is the state of a task as version 0.3 writes it, such as input-required.
type a2aState string

// UnmarshalJSON also reads the names of version 1.0, such as
// TASK_STATE_INPUT_REQUIRED.
func (s *a2aState) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	text = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(text, "TASK_STATE_")), "_", "-")
	*s = a2aState(text)
	return nil
}

const (
	a2aCompleted = a2aState("completed")
	a2aFailed    = a2aState("failed")
	a2aCanceled  = a2aState("canceled")
	a2aRejected  = a2aState("rejected")
)

// final reports whether a task can change no more.
func (s a2aState) final() bool {
	return s == a2aCompleted || s == a2aFailed || s == a2aCanceled || s == a2aRejected
}

// paused reports whether a task waits for its user.
func (s a2aState) paused() bool { return s == "input-required" || s == "auth-required" }
