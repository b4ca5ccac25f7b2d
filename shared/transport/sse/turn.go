package sse

import (
	"context"
	"time"
)

// turnSpread is by how much of a turn some end earlier than others, so that
// readers who came together do not come back together for ever.
const turnSpread = 0.1

// end is when a stream ends by itself, and why.
type end struct {
	after time.Duration
	cause error
}

// endOf is the end of a stream that begins now: its turn's, its function's or
// its token's, whichever comes first. Lambda does not tell a function that its
// reader has left, so it is the turn that bounds what nobody reads.
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
