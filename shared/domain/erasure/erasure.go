// Package erasure is the domain of deleting everything that a user owns.
package erasure

import "context"

// Status says how far an erasure has come.
type Status string

// The statuses of an erasure.
const (
	InProgress Status = "in_progress"
	Complete   Status = "complete"
)

// Report says what was removed. Times are epoch milliseconds.
type Report struct {
	Status      Status  `json:"status"`
	StartedTime int64   `json:"started_time"`
	EndedTime   *int64  `json:"ended_time"`
	Removed     Removed `json:"removed"`
}

// Removed counts what was removed.
type Removed struct {
	Sessions  int `json:"sessions"`
	Tasks     int `json:"tasks"`
	Artifacts int `json:"artifacts"` // versions, shared ones too
	Feedback  int `json:"feedback"`
	// Webhooks go with their secrets; Deliveries are what is remembered of theirs.
	Webhooks   int `json:"webhooks"`
	Deliveries int `json:"deliveries"`
	// Apps are those in which the user had state or artifacts that sessions share.
	Apps    int `json:"apps"`
	Imports int `json:"imports"`
	// Automations are those that asked agents by themselves.
	Automations int `json:"automations"`
	// Records are idempotency keys and other traces of requests.
	Records int `json:"records"`
}

// Store erases.
type Store interface {
	// Erase removes all that the user has when it is called: sessions with all
	// they hold, shared state and artifacts, feedback, imports, webhooks and
	// idempotency keys. What takes longer than a request is finished in the
	// background. What the user makes later stays. It may be repeated.
	Erase(ctx context.Context, userID string) (Report, error)
	// Erasure is the report of the last one; fault.NotFound where there was none.
	Erasure(ctx context.Context, userID string) (Report, error)
}
