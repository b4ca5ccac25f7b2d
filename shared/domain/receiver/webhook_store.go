package receiver

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// Webhooks stores webhooks, their secrets and their delivery records. It returns
// fault.NotFound for those of another user.
type Webhooks interface {
	// CreateWebhook adds a webhook with its secret. If one with the id exists, it
	// is returned unchanged: the request is a repeat. It returns fault.Conflict if
	// the user has MaxWebhooks others.
	CreateWebhook(ctx context.Context, w Webhook, secret Secret) (Webhook, error)
	Webhook(ctx context.Context, userID, id string) (Webhook, error)
	// Webhooks returns a user's webhooks, oldest first.
	Webhooks(ctx context.Context, userID string) ([]Webhook, error)
	// ChangeWebhook returns the faults of Change.Apply.
	ChangeWebhook(ctx context.Context, userID, id string, c WebhookChange) (Webhook, error)
	// DeleteWebhook deletes a webhook with its secrets and records.
	DeleteWebhook(ctx context.Context, userID, id string) error

	Secrets(ctx context.Context, userID, id string) (Secrets, error)
	RotateSecret(ctx context.Context, userID, id string, r Rotation) (Secrets, error)

	// Record reads the record of a delivery.
	Record(ctx context.Context, userID, id, deliveryID string) (Record, error)
	Records(ctx context.Context, q RecordQuery) (RecordPage, error)
	// NoteQueued creates the record of a delivery that is about to be queued, or
	// makes it pending again.
	NoteQueued(ctx context.Context, d delivery.Delivery) (Record, error)
}

// RecordQuery selects records of a webhook, the latest events first.
type RecordQuery struct {
	UserID    string
	WebhookID string
	Limit     int
	After     string // a RecordPage's Next
}

// RecordPage is a page of records; Next is "" on the last page.
type RecordPage struct {
	Records []Record
	Next    string
}

// WebhookTargets is the part of the store that deliveries use.
type WebhookTargets interface {
	// Webhook and Secrets are as in Store.
	Webhook(ctx context.Context, userID, id string) (Webhook, error)
	Secrets(ctx context.Context, userID, id string) (Secrets, error)
	// NoteTry adds an attempt to the record of a delivery. A note without an
	// attempt creates no record.
	NoteTry(ctx context.Context, n Note) error
	// DeliveredSince reports whether any delivery to a webhook succeeded since a
	// time.
	DeliveredSince(ctx context.Context, userID, id string, since time.Time) (bool, error)
	// DisableWebhook disables an active webhook that still has this address, and
	// has no effect otherwise.
	DisableWebhook(ctx context.Context, d Disabling) error
}

// Disabling is a request to disable a webhook, with its conditions.
type Disabling struct {
	UserID string
	ID     string
	URL    string
	Reason Reason
	// UnchangedSince, unless zero, spares a webhook that its owner has changed
	// since.
	UnchangedSince time.Time
}
