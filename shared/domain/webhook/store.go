package webhook

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// Store keeps webhooks, their secrets and what became of their deliveries. What
// belongs to somebody else is not there: fault.NotFound.
type Store interface {
	// CreateWebhook adds a webhook with its secret. One that has the id already is
	// returned as it is: the request is a repetition. fault.Conflict where the user
	// has MaxWebhooks others.
	CreateWebhook(ctx context.Context, w Webhook, secret Secret) (Webhook, error)
	Webhook(ctx context.Context, userID, id string) (Webhook, error)
	// Webhooks are those of a user, oldest first.
	Webhooks(ctx context.Context, userID string) ([]Webhook, error)
	// ChangeWebhook has the faults of Change.Apply.
	ChangeWebhook(ctx context.Context, userID, id string, c Change) (Webhook, error)
	// DeleteWebhook removes a webhook with its secrets and records.
	DeleteWebhook(ctx context.Context, userID, id string) error

	Secrets(ctx context.Context, userID, id string) (Secrets, error)
	RotateSecret(ctx context.Context, userID, id string, r Rotation) (Secrets, error)

	// Record reads what became of a delivery.
	Record(ctx context.Context, userID, id, deliveryID string) (Record, error)
	Records(ctx context.Context, q RecordQuery) (RecordPage, error)
	// NoteQueued makes, or makes pending again, the record of a delivery that is
	// about to be queued.
	NoteQueued(ctx context.Context, d delivery.Delivery) (Record, error)
}

// RecordQuery selects records of a webhook, the latest events first.
type RecordQuery struct {
	UserID    string
	WebhookID string
	Limit     int
	After     string // a RecordPage's Next
}

// RecordPage is some of them; Next is "" on the last page.
type RecordPage struct {
	Records []Record
	Next    string
}

// Targets is what telling webhooks needs.
type Targets interface {
	// Webhook and Secrets are as of Store.
	Webhook(ctx context.Context, userID, id string) (Webhook, error)
	Secrets(ctx context.Context, userID, id string) (Secrets, error)
	// NoteTry adds a try to the record of a delivery. One that was not made makes
	// no record.
	NoteTry(ctx context.Context, n Note) error
	// DeliveredSince reports whether anything was delivered to a webhook since a
	// time.
	DeliveredSince(ctx context.Context, userID, id string, since time.Time) (bool, error)
	// DisableWebhook disables an active webhook that has this address still. Nothing
	// happens to any other.
	DisableWebhook(ctx context.Context, d Disabling) error
}

// Disabling is why a webhook is to be disabled, and under which conditions.
type Disabling struct {
	UserID string
	ID     string
	URL    string
	Reason Reason
	// UnchangedSince, unless it is zero, spares one that its owner has changed
	// since.
	UnchangedSince time.Time
}
