package delivery

import (
	"context"
	"errors"
	"time"
)

// Lane is where deliveries to one target wait in order, aside from the queue,
// while the target is slow or fails: so the queue holds what can be delivered now.
// A target has a lane only then. Whoever changes it names the version that was
// read.
type Lane struct {
	Group   string // of the target
	Version int64  // 0 for none
	// Turn counts the turns, at each of which the target is tried. Due is when the
	// next one is; zero where nothing waits for one.
	Turn int64
	Due  time.Time
	// Holder is at work, until Leased at most; "" for nobody.
	Holder string
	Leased time.Time
	// Failures are the tries that failed since the last that did not.
	Failures int
	// Head is the place of the delivery that was tried HeadTries times.
	Head      string
	HeadTries int
	// Slow is until when answers of the target are expected to take long.
	Slow time.Time
}

// Parked is a delivery that waits in a lane.
type Parked struct {
	Place    string // in the order of the queue that it came from
	Delivery Delivery
	Tries    int // so far
	Queued   time.Time
}

// MaxParked is how many deliveries are parked at once.
const MaxParked = 10

// ErrLaneChanged says that a lane is not as it was read.
var ErrLaneChanged = errors.New("the lane has changed")

// Lanes keeps lanes. Reads are consistent with the writes before them.
type Lanes interface {
	// Lane is the one of a group, of version 0 where there is none. One that cannot be
	// read is set aside, and a new one stands in its place, which is long due.
	Lane(ctx context.Context, group string) (Lane, error)
	// SaveLane makes or changes a lane; ErrLaneChanged.
	SaveLane(ctx context.Context, l Lane) error
	// CloseLane removes a lane, in which nothing may wait; ErrLaneChanged.
	CloseLane(ctx context.Context, l Lane) error
	// Park is SaveLane, and adds up to MaxParked deliveries, all or nothing. One that
	// is parked at its place already stays the only one there.
	Park(ctx context.Context, l Lane, all []Parked) error
	// Parked are the first deliveries of a lane, up to n. Those that cannot be read are
	// set aside.
	Parked(ctx context.Context, group string, n int) ([]Parked, error)
	// Unpark removes deliveries, if they are there.
	Unpark(ctx context.Context, group string, places ...string) error
}

// Wake says that it is a lane's turn.
type Wake struct {
	Kind  Kind   `json:"kind"`
	Group string `json:"group"`
	Turn  int64  `json:"turn"`
}

// Waker brings a Wake back after a time, at least once, and a wake that was not
// handled again. It may come earlier.
type Waker interface {
	Wake(ctx context.Context, w Wake, after time.Duration) error
}

// Discarder puts aside what was given up, for people to look at.
type Discarder interface {
	Discard(ctx context.Context, d Delivery, reason string, tries int) error
}
