package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ended is a subscription that is not good any more.
type ended struct {
	Subscription
	reason Reason
}

// among reports whether the subscription's grant is one of those.
func (s Subscription) among(grants []Grant) bool {
	for _, g := range grants {
		if s.Guest() && s.Grant.Share == g.Share && (g.UserID == "" || g.UserID == s.Grant.UserID) {
			return true
		}
	}
	return false
}

// closes tells connections that their subscriptions are over, and clears these. Where
// the token has ended the connection is closed, too: nothing more can be asked
// on it. Who was told and could not be cleared is told once more next time.
func (f *Fanout) closeSubscriptions(ctx context.Context, log string, subs []ended) error {
	errs := make([]error, len(subs))
	var running sync.WaitGroup
	for i, sub := range subs {
		running.Go(func() {
			if err := f.sendNotice(ctx, sub); err != nil {
				errs[i] = fmt.Errorf("tell connection %s that it watches no longer: %w", sub.Connection, err)
				return
			}
			if err := f.audience.Clear(ctx, log, sub.Subscription); err != nil {
				f.log.WarnContext(ctx, "a seat that is over is still there",
					"session_id", sub.SessionID, "connection", sub.Connection, "error", err)
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// sendNotice tells a connection that its subscription is over; nil where it is gone or
// had to be closed.
func (f *Fanout) sendNotice(ctx context.Context, sub ended) error {
	err := f.sender.Send(ctx, sub.Connection, [][]byte{NewUnsubscribedNotice(sub.SessionID, sub.reason).Frame()})
	if err == nil && sub.reason == ReasonToken {
		err = f.sender.cut(ctx, sub.Connection, errToken)
	}
	if errors.Is(err, ErrGone) || errors.Is(err, ErrCut) {
		return nil
	}
	return err
}

var errToken = errors.New("its token has ended")
