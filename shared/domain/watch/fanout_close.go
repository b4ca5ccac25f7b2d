package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ended is a subscription that has ended.
type ended struct {
	Subscription
	reason Reason
}

// grantedBy reports whether the subscription's grant is one of grants.
func (s Subscription) grantedBy(grants []Grant) bool {
	for _, g := range grants {
		if s.Guest() && s.Grant.Share == g.Share && (g.UserID == "" || g.UserID == s.Grant.UserID) {
			return true
		}
	}
	return false
}

// closeSubscriptions sends connections a notice that their subscriptions have
// ended, and clears these. If the token expired it closes the connection too, since
// the connection accepts no further requests. A subscription that could not be
// cleared gets another notice next time.
func (f *Fanout) closeSubscriptions(ctx context.Context, log string, subs []ended) error {
	errs := make([]error, len(subs))
	var running sync.WaitGroup
	for i, sub := range subs {
		if len(subs) >= crowd {
			if errs[i] = f.wait(ctx, 1); errs[i] != nil {
				break
			}
		}
		running.Go(func() {
			if err := f.sendNotice(ctx, sub); err != nil {
				errs[i] = fmt.Errorf("notify connection %s of the end of its subscription: %w", sub.Connection, err)
				return
			}
			if err := f.audience.Clear(ctx, log, sub.Subscription); err != nil {
				f.log.WarnContext(ctx, "an ended subscription could not be cleared",
					"session_id", sub.SessionID, "connection", sub.Connection, "error", err)
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// sendNotice sends a connection the notice that its subscription has ended; nil if
// the connection is gone or had to be closed.
func (f *Fanout) sendNotice(ctx context.Context, sub ended) error {
	err := f.poster.sender.Send(ctx, sub.Connection, [][]byte{NewUnsubscribedNotice(sub.SessionID, sub.reason).Frame()})
	if err == nil && sub.reason == ReasonToken {
		err = f.poster.sender.disconnect(ctx, sub.Connection, errToken)
	}
	if errors.Is(err, ErrGone) || errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

var errToken = errors.New("its token has expired")
