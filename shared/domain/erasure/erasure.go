// Package erasure is the domain of deleting everything that a user owns. Five rooms of the
// store count what they removed by it, so it stands below all of them.
package erasure

import "context"

// Status is the progress of an erasure.
type Status string

// The statuses of an erasure.
const (
	InProgress Status = "in_progress"
	Complete   Status = "complete"
)

// Report reports what was removed. Times are epoch milliseconds.
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
	Artifacts int `json:"artifacts"` // versions, the user's shared ones included
	Feedback  int `json:"feedback"`
	// Webhooks are removed with their secrets; Deliveries are delivery records.
	Webhooks   int `json:"webhooks"`
	Deliveries int `json:"deliveries"`
	// Apps are those in which the user had state or artifacts that sessions share.
	Apps    int `json:"apps"`
	Imports int `json:"imports"`
	// Automations are the removed automations of the user.
	Automations int `json:"automations"`
	// Records are idempotency keys and other traces of requests.
	Records int `json:"records"`
}

// Store erases users' data.
type Store interface {
	// Erase removes everything that the user has when it is called: sessions with
	// their contents, shared state and artifacts, feedback, imports, webhooks and
	// idempotency keys. Work that takes longer than a request continues in the
	// background. Data that the user creates later stays. It may be repeated.
	Erase(ctx context.Context, userID string) (Report, error)
	// Erasure returns the report of the last erasure; fault.NotFound if there was
	// none.
	Erasure(ctx context.Context, userID string) (Report, error)
}
