package sse

import (
	"context"
	"time"
)

// turnSpread is the part of a turn by which streams end early at random, so
// that readers that connected together do not keep reconnecting together.
const turnSpread = 0.1

// end is when and why a stream ends of its own accord.
type end struct {
	after time.Duration
	cause error
}

// endOf returns the end of a stream that begins now: the end of its turn, its
// function or its token, whichever is first. Lambda does not report that a
// reader has left, so the turn bounds how long an unread stream runs.
func (c Config) endOf(ctx context.Context, token time.Duration) end {
	at := end{after: token, cause: errToken}
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline) - c.Margin; left < at.after {
			at = end{after: left, cause: errEnd}
		}
	}
	if c.Turn > 0 {
		turn := c.Turn - time.Duration(turnSpread*c.Random()*float64(c.Turn))
		if turn < at.after {
			at = end{after: turn, cause: errEnd}
		}
	}
	return at
}
