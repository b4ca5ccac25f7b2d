package webhook

import (
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
)

const (
	// KeepRecords is how long a delivery is remembered after its last try.
	KeepRecords = 7 * 24 * time.Hour
	// MaxAttempts are kept of a delivery, the latest.
	MaxAttempts = 10
)

// State is how far a delivery has come.
type State string

// The states of a delivery.
const (
	Pending   State = "pending" // it is, or will be, tried
	Delivered State = "delivered"
	Failed    State = "failed" // and will not be tried again by itself
)

// Record is what is remembered of a delivery to a webhook. Times are epoch
// milliseconds.
type Record struct {
	ID        string
	WebhookID string
	Event     delivery.Event
	State     State
	// Tries is how many there were; Attempts are the latest, oldest first.
	Tries    int
	Attempts []Attempt
	// CreatedTime is when it was queued first.
	CreatedTime int64
	// NextAttemptTime, of a pending one, is when it is tried next at the earliest.
	NextAttemptTime int64
}

// Attempt is one try.
type Attempt struct {
	Time     int64 // epoch milliseconds
	Duration int64 // milliseconds
	Status   int   // that was answered, 0 where no answer came
	Reason   string
}

// Note is what one try adds to a record.
type Note struct {
	Delivery delivery.Delivery
	// Queued is when the delivery was, in epoch milliseconds.
	Queued int64
	State  State
	// Number is the try's, among all of the delivery; 0 says that none was made,
	// since there is nothing to deliver any more.
	Number          int
	Attempt         Attempt
	NextAttemptTime int64
}

// DeliveryID names a delivery to a webhook, the same in each try and when it is
// sent anew. Ids of one webhook sort by when their events happened.
func DeliveryID(d delivery.Delivery) string {
	return fmt.Sprintf("msg_%012x%s", max(0, d.Event.Time), d.ID())
}

// Again is the record's delivery, to be queued anew; nonce tells it from the time
// before.
func (r Record) Again(t delivery.Target, nonce string) delivery.Delivery {
	return delivery.Delivery{Event: r.Event, Target: t, Again: nonce, Tries: r.Tries}
}
