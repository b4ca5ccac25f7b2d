package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ended is a seat that is not good any more.
type ended struct {
	Seat
	reason Reason
}

// among reports whether the seat's grant is one of those.
func (s Seat) among(grants []Grant) bool {
	for _, g := range grants {
		if s.Guest() && s.Grant.Share == g.Share && (g.UserID == "" || g.UserID == s.Grant.UserID) {
			return true
		}
	}
	return false
}

// dismiss tells connections that their seats are over, and clears these. Where
// the token has ended the connection is closed, too: nothing more can be asked
// on it. Who was told and could not be cleared is told once more next time.
func (f *Fanout) dismiss(ctx context.Context, log string, seats []ended) error {
	errs := make([]error, len(seats))
	var running sync.WaitGroup
	for i, seat := range seats {
		running.Go(func() {
			if err := f.sayFarewell(ctx, seat); err != nil {
				errs[i] = fmt.Errorf("tell connection %s that it watches no longer: %w", seat.Connection, err)
				return
			}
			if err := f.audience.Clear(ctx, log, seat.Seat); err != nil {
				f.log.WarnContext(ctx, "a seat that is over is still there",
					"session_id", seat.SessionID, "connection", seat.Connection, "error", err)
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// sayFarewell tells a connection that its seat is over; nil where it is gone or
// had to be closed.
func (f *Fanout) sayFarewell(ctx context.Context, seat ended) error {
	err := f.courier.Bring(ctx, seat.Connection, [][]byte{NewFarewell(seat.SessionID, seat.reason).Frame()})
	if err == nil && seat.reason == ReasonToken {
		err = f.courier.cut(ctx, seat.Connection, errToken)
	}
	if errors.Is(err, ErrGone) || errors.Is(err, ErrCut) {
		return nil
	}
	return err
}

var errToken = errors.New("its token has ended")
