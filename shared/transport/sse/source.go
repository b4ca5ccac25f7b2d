package sse

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// Attempts to open a connection. The gateway fails some while functions start or are
// throttled, and EventSource gives up for good on any status but 200.
const (
	openTries = 3
	openWait  = 200 * time.Millisecond // the limit of the first wait
)

// subscribe opens a connection with the caller's token and watches the session. All
// attempts together take Answer at most.
func (c Config) subscribe(ctx context.Context, req request, from watch.From) (*subscription.Subscription, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, c.Answer)
	defer cancel()
	api := subscription.API{URL: c.URL, Client: c.Client, Answer: c.Answer}
	var refused *subscription.RefusedError
	failed := func(err error) bool { return !errors.As(err, &refused) }
	var source *subscription.Subscription
	err := retry.Do(ctx, retry.Policy{First: openWait, Max: 2 * openWait, Tries: openTries}, failed, func() (err error) {
		source, err = api.Open(ctx, req.caller, req.sessionID, from)
		return err
	})
	switch {
	case errors.As(err, &refused):
		return nil, refusedByAPI(refused.Answer)
	case err != nil:
		return nil, unavailable(err)
	}
	return source, nil
}
