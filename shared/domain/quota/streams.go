package quota

import (
	"context"
	"time"
)

// StreamCheck is how often the holder of a lease checks that it still holds it.
const StreamCheck = 5 * time.Second

// StreamGrace is how long an ended stream keeps its slot, for a reader that
// reconnects.
const StreamGrace = 10 * time.Second

// Stream is a streaming response of any protocol, which occupies a function for its
// duration.
type Stream struct {
	UserID string
	// Subject is what it streams. A reader that reconnects may only continue in the
	// slot of a stream with the same subject.
	Subject string
	// Resumed says that the reader had a stream of this subject before, and continues
	// where that ended.
	Resumed bool
	// Lasting is its maximum duration.
	Lasting time.Duration
}

// Lease is a stream's slot among those of its user. It expires some time after its
// stream should have ended, so that a function that died frees its slot. The zero
// Lease is used if streams are not limited.
type Lease struct {
	UserID string
	Slot   int64
	Holder string
	// Continued says that the slot is that of a stream of the same subject that
	// ended normally.
	Continued bool
}

// Streams limits the open streams of users.
type Streams interface {
	// TakeStream acquires a slot for a stream: that of a stream of the same subject
	// that ended shortly before, a free one or, for a reader that reconnects when
	// none is free, that of a stream of the same subject whose reader may be gone.
	// The previous holder learns of it from HoldsStream. It returns Exceeded if
	// there is no such slot. It takes one write unit, and one more for each lost
	// race.
	TakeStream(ctx context.Context, s Stream) (Lease, error)
	// HoldsStream reports whether the lease was still its holder's a moment ago.
	HoldsStream(ctx context.Context, l Lease) (bool, error)
	// RenewStream extends the lease from now; fault.Conflict if it is no longer its
	// holder's. It takes one write unit.
	RenewStream(ctx context.Context, l Lease, lasting time.Duration) error
	// EndStream frees the slot: at once, or after StreamGrace if the reader is
	// expected to reconnect. A lease that is no longer its holder's is unchanged.
	// It takes one write unit.
	EndStream(ctx context.Context, l Lease, expected bool) error
}
