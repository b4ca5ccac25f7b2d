package follow

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// subscribeTime bounds a subscription to the WebSocket API.
const subscribeTime = 10 * time.Second

// WatchFunc watches a session from a position on, for a caller; its
// errors are those of Watcher, and fault.NotFound.
type WatchFunc func(ctx context.Context, caller access.Caller, sessionID string, from watch.Cursor) (Watcher, error)

// Watcher delivers what happens in a session. It is not safe for concurrent
// use.
type Watcher interface {
	// Next waits for the next message. It returns fault.Forbidden if the caller
	// may not watch the session any longer, fault.Unauthorized if the token has
	// expired.
	Next(ctx context.Context) (subscription.Message, error)
	Close()
}

// Socket watches through the WebSocket API at a ws or wss address, so that the
// same fan-out serves all watchers.
func Socket(url string, httpClient *http.Client) WatchFunc {
	api := subscription.API{URL: url, Client: httpClient, Answer: subscribeTime}
	return func(ctx context.Context, caller access.Caller, sessionID string, from watch.Cursor) (Watcher, error) {
		s, err := api.Open(ctx, caller, sessionID, watch.From{Cursor: &from})
		if err != nil {
			return nil, final(err)
		}
		return socket{s}, nil
	}
}

type socket struct{ *subscription.Subscription }

// Next implements Watcher.
func (s socket) Next(ctx context.Context) (subscription.Message, error) {
	m, err := s.Subscription.Next(ctx)
	if err != nil {
		return subscription.Message{}, final(err)
	}
	return m, nil
}

// final turns an answer of the WebSocket API that another try cannot change
// into a fault.
func final(err error) error {
	var refused *subscription.RefusedError
	var ended *subscription.EndedError
	status := 0
	switch {
	case errors.As(err, &refused):
		status = refused.Status
	case errors.As(err, &ended):
		status = ended.Status
	}
	switch kind := problem.Kind(status); kind {
	case fault.Unauthorized:
		return fault.New(fault.TokenExpired, "the token has expired")
	case fault.Forbidden:
		return fault.NotYours("session")
	case fault.NotFound:
		return fault.Missing("Session")
	default:
		return err
	}
}
