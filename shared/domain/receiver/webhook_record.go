package receiver

import (
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
)

const (
	// KeepRecords is how long a delivery record is kept after the last attempt.
	KeepRecords = 7 * 24 * time.Hour
	// MaxAttempts is how many attempts a record keeps, the latest ones.
	MaxAttempts = 10
)

// State is the state of a delivery.
type State string

// The states of a delivery.
const (
	Pending   State = "pending" // it is, or will be, tried
	Delivered State = "delivered"
	Failed    State = "failed" // and will not be retried automatically
)

// Record is the record of a delivery to a webhook. Times are epoch milliseconds.
type Record struct {
	ID        string
	WebhookID string
	Event     notification.Event
	State     State
	// Tries is the number of attempts; Attempts are the latest, oldest first.
	Tries    int
	Attempts []Attempt
	// CreatedTime is when it was queued first.
	CreatedTime int64
	// NextAttemptTime is the earliest time of the next attempt of a pending
	// delivery.
	NextAttemptTime int64
}

// Attempt is one attempt.
type Attempt struct {
	Time     int64 // epoch milliseconds
	Duration int64 // milliseconds
	Status   int   // of the response, 0 if there was none
	Reason   string
}

// Note is what one attempt adds to a record.
type Note struct {
	Delivery delivery.Delivery
	// Queued is when the delivery was queued, in epoch milliseconds.
	Queued int64
	State  State
	// Number is the attempt's number among all of the delivery; 0 if none was made
	// because there was nothing left to deliver.
	Number          int
	Attempt         Attempt
	NextAttemptTime int64
}

// DeliveryID returns the id of a delivery to a webhook, the same for each attempt
// and redelivery. Ids of one webhook sort by the times of their events.
func DeliveryID(d delivery.Delivery) string {
	return fmt.Sprintf("msg_%012x%s", max(0, d.Event.Time), d.ID())
}

// Again returns the record's delivery for a redelivery; nonce distinguishes it from
// the earlier one.
func (r Record) Again(t delivery.Target, nonce string) delivery.Delivery {
	return delivery.Delivery{Event: r.Event, Target: t, Again: nonce, Tries: r.Tries}
}
