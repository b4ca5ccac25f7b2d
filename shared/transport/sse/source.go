package sse

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// subscribe opens a connection with the caller's token and watches the session.
func (c Config) subscribe(ctx context.Context, req request, from watch.From) (*subscription.Subscription, *refusal) {
	api := subscription.API{URL: c.URL, Client: c.Client, Answer: c.Answer}
	source, err := api.Open(ctx, req.token, req.sessionID, from)
	var refused *subscription.RefusedError
	switch {
	case errors.As(err, &refused):
		return nil, refusedByAPI(refused.Answer)
	case err != nil:
		return nil, unavailable(err)
	}
	return source, nil
}
