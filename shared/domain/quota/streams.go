package quota

import (
	"context"
	"time"
)

// StreamCheck is how often the holder of a lease looks whether it still holds it.
const StreamCheck = 5 * time.Second

// StreamGrace is how long a stream that has ended keeps its place, so that its
// reader finds it on coming back.
const StreamGrace = 10 * time.Second

// Stream is an answer that goes on for as long as it may, whatever protocol it
// speaks: it keeps a function at work.
type Stream struct {
	UserID string
	// Subject is what it tells of. Who comes back goes on only in the place of a
	// stream of the same subject.
	Subject string
	// Resumed says that the reader had such a stream before, and where it ended.
	Resumed bool
	// Lasting is how long it goes on at most.
	Lasting time.Duration
}

// Lease is a stream's place among those of its user. It ends by itself a while
// after its stream should have, so that a function that died keeps none. The
// zero Lease is one where streams are not counted.
type Lease struct {
	UserID string
	Slot   int64
	Holder string
	// Continued says that the place is that of a stream of the same subject that
	// ended in order.
	Continued bool
}

// Streams counts the open streams of users.
type Streams interface {
	// TakeStream takes a place for a stream: that of one of the same subject that
	// ended shortly before, a free one, or, for a reader who comes back while
	// there is none, that of one of the same subject whose reader may have gone.
	// Whoever that was taken from learns it from HoldsStream. It is Exceeded where
	// nothing of that is there. One write unit, and one more for each race lost.
	TakeStream(ctx context.Context, s Stream) (Lease, error)
	// HoldsStream says whether the lease is still its holder's, as of a moment ago.
	HoldsStream(ctx context.Context, l Lease) (bool, error)
	// RenewStream has the lease last longer, from now on. fault.Conflict where it
	// is its holder's no longer. One write unit.
	RenewStream(ctx context.Context, l Lease, lasting time.Duration) error
	// EndStream gives the place back: at once, or after StreamGrace where the
	// reader is expected back. A lease that is its holder's no longer stays as it
	// is. One write unit.
	EndStream(ctx context.Context, l Lease, expected bool) error
}
