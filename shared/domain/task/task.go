// Package task is the domain of tasks, the records of interactions exactly as a
// person saw them, the messages they flatten to, and feedback.
package task

import (
	"context"
	"encoding/json"
)

// Limits of one task.
const (
	MaxBubbles     = 100
	MaxUserMessage = 10_000   // characters
	MaxBubbleText  = 100_000  // characters
	MaxSize        = 10 << 20 // bytes of JSON
)

// Task is one interaction as the user interface showed it. Bubbles and metadata are
// stored as received. Times are epoch milliseconds.
type Task struct {
	ID          string
	SessionID   string
	UserMessage json.RawMessage // a JSON string or null
	Bubbles     json.RawMessage // a JSON array
	Metadata    json.RawMessage // a JSON object or null
	CreatedTime int64
	UpdatedTime int64
	// Place is the task's position in the session's log, and TakenOver says that a
	// fork took that position over from its source. Reads set them.
	Place     int64
	TakenOver bool
}

// Save is a request to save a task. A nil UserMessage or Metadata was not sent, and
// leaves what an earlier save stored; null clears it.
type Save struct {
	SessionID string
	UserID    string
	Task      Task
	// Invocations are the ids that metadata.kagent_invocation_id names in the
	// bubbles, their parts or their history, in order, without duplicates.
	Invocations []string
}

// Query selects a page of tasks, oldest first.
type Query struct {
	SessionID string
	UserID    string
	Limit     int    // 0: limited only by the page's bytes
	After     string // position of an earlier page, from Page.Next
}

// Page is a page of tasks; Next is "" at the end.
type Page struct {
	Tasks []Task
	Next  string
}

// Store stores tasks. Every method returns fault.NotFound if the session or task
// does not exist and fault.Forbidden for another user's session.
type Store interface {
	// Save creates or updates the task, and reports which.
	Save(ctx context.Context, s Save) (saved Task, created bool, err error)
	Task(ctx context.Context, userID, sessionID, taskID string) (Task, error)
	Tasks(ctx context.Context, q Query) (Page, error)
	DeleteTask(ctx context.Context, userID, sessionID, taskID string) error
}

// Size returns the approximate size of the task as JSON, in bytes.
func (t Task) Size() int {
	return 200 + len(t.ID) + len(t.UserMessage) + len(t.Bubbles) + len(t.Metadata)
}
