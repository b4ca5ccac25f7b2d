package a2a

import (
	"encoding/json"
	"strings"
)

// The types below are what this package reads of A2A, versions 1.0 and 0.3. They keep
// data as JSON text, because a number beyond 2^53 would not survive being decoded.

type metadata map[string]json.RawMessage

// flag reports whether one of the members is true.
func (m metadata) flag(names ...string) bool {
	for _, name := range names {
		if string(m[name]) == "true" {
			return true
		}
	}
	return false
}

// text returns the first of the members that is a string.
func (m metadata) text(names ...string) string {
	for _, name := range names {
		var s string
		if json.Unmarshal(m[name], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// part has the members of a part of both versions.
type part struct {
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
	Metadata metadata `json:"metadata"`
}

type message struct {
	ID        string   `json:"messageId"`
	ContextID string   `json:"contextId"`
	TaskID    string   `json:"taskId"`
	Role      string   `json:"role"`
	Parts     []part   `json:"parts"`
	Metadata  metadata `json:"metadata"`
}

func (m message) fromUser() bool { return strings.HasSuffix(strings.ToLower(m.Role), "user") }

type artifact struct {
	ID    string `json:"artifactId"`
	Parts []part `json:"parts"`
}

type status struct {
	State   state    `json:"state"`
	Message *message `json:"message"`
}

type task struct {
	ID        string     `json:"id"`
	ContextID string     `json:"contextId"`
	Status    status     `json:"status"`
	Artifacts []artifact `json:"artifacts"`
	History   []message  `json:"history"`
}

// update is an update of a task's status, or of one of its artifacts.
type update struct {
	TaskID    string    `json:"taskId"`
	ContextID string    `json:"contextId"`
	Status    *status   `json:"status"`
	Artifact  *artifact `json:"artifact"`
	Append    bool      `json:"append"`
	Metadata  metadata  `json:"metadata"`
}

// result is one result of a request; exactly one member is set.
type result struct {
	Task           *task    `json:"task"`
	Message        *message `json:"message"`
	StatusUpdate   *update  `json:"statusUpdate"`
	ArtifactUpdate *update  `json:"artifactUpdate"`
}

// state is the state of a task as version 0.3 writes it, such as input-required.
type state string

// UnmarshalJSON also reads the names of version 1.0, such as
// TASK_STATE_INPUT_REQUIRED.
func (s *state) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	text = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(text, "TASK_STATE_")), "_", "-")
	*s = state(text)
	return nil
}

const (
	stateCompleted = state("completed")
	stateFailed    = state("failed")
	stateCanceled  = state("canceled")
	stateRejected  = state("rejected")
)

// final reports whether a task can change no more.
func (s state) final() bool {
	return s == stateCompleted || s == stateFailed || s == stateCanceled || s == stateRejected
}

// paused reports whether a task waits for its user.
func (s state) paused() bool { return s == "input-required" || s == "auth-required" }
