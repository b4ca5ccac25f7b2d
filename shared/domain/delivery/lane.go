package delivery

import (
	"context"
	"errors"
	"time"
)

// Lane holds the deliveries to one target, in order, outside of the queue while the
// target is slow or fails, so that the queue holds only what can be delivered now.
// A target has a lane only then. A change of a lane names the version that was
// read.
type Lane struct {
	Group   string // of the target
	Version int64  // 0 for none
	// Pass numbers the passes, each of which tries the target again. Due is when
	// the next one is due; zero if nothing waits for one.
	Pass int64
	Due  time.Time
	// Holder is the active pass, until Leased at most; "" for none.
	Holder string
	Leased time.Time
	// Failures is the number of failures since the last success.
	Failures int
	// Head is the position of the delivery that was tried HeadTries times.
	Head      string
	HeadTries int
	// Slow is until when the target is expected to answer slowly.
	Slow time.Time
}

// Parked is a delivery that waits in a lane.
type Parked struct {
	Position string // its position in the queue
	Delivery Delivery
	Tries    int // so far
	Queued   time.Time
}

// MaxParked is how many deliveries one call parks at most.
const MaxParked = 10

// ErrLaneChanged says that a lane is not as it was read.
var ErrLaneChanged = errors.New("the lane has changed")

// Lanes stores lanes. Reads are consistent with earlier writes.
type Lanes interface {
	// Lane returns the lane of a group, with version 0 if there is none. An
	// unreadable lane is quarantined and replaced by a new one that is long
	// overdue.
	Lane(ctx context.Context, group string) (Lane, error)
	// SaveLane creates or changes a lane; ErrLaneChanged if it changed.
	SaveLane(ctx context.Context, l Lane) error
	// CloseLane removes a lane, which must be empty; ErrLaneChanged if it changed.
	CloseLane(ctx context.Context, l Lane) error
	// Park is SaveLane and adds up to MaxParked deliveries, all or none. A delivery
	// that is already parked at its position is kept.
	Park(ctx context.Context, l Lane, all []Parked) error
	// Parked returns up to n deliveries from the head of a lane. Unreadable ones
	// are quarantined.
	Parked(ctx context.Context, group string, n int) ([]Parked, error)
	// Unpark removes deliveries; missing ones are ignored.
	Unpark(ctx context.Context, group string, positions ...string) error
}

// Wake says that a lane's pass is due.
type Wake struct {
	Kind  Kind   `json:"kind"`
	Group string `json:"group"`
	Pass  int64  `json:"turn"`
}

// Waker returns a Wake after a delay, at least once, and again if it was not
// handled. It may return it early.
type Waker interface {
	Wake(ctx context.Context, w Wake, after time.Duration) error
}

// Discarder keeps abandoned deliveries for inspection (the dead-letter queue).
type Discarder interface {
	Discard(ctx context.Context, d Delivery, reason string, tries int) error
}
