package a2a

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// subscribeTime is how long the WebSocket API may take to subscribe.
const subscribeTime = 10 * time.Second

// NewsFunc watches a session from a position on, with a caller's token; faults
// are those of News and fault.NotFound.
type NewsFunc func(ctx context.Context, token, sessionID string, from watch.Cursor) (News, error)

// News is what happens in a session. It is for one goroutine at a time.
type News interface {
	// Next waits for the next message. fault.Forbidden where the caller may hear
	// of the session no longer, fault.Unauthorized where the token has ended.
	Next(ctx context.Context) (subscription.Message, error)
	Close()
}

// Socket has the news of the WebSocket API at an address, ws or wss: the same
// fan-out serves everybody who watches.
func Socket(url string, httpClient *http.Client) NewsFunc {
	api := subscription.API{URL: url, Client: httpClient, Answer: subscribeTime}
	return func(ctx context.Context, token, sessionID string, from watch.Cursor) (News, error) {
		s, err := api.Open(ctx, token, sessionID, watch.From{Cursor: &from})
		if err != nil {
			return nil, final(err)
		}
		return socket{s}, nil
	}
}

type socket struct{ *subscription.Subscription }

// Next implements News.
func (s socket) Next(ctx context.Context) (subscription.Message, error) {
	m, err := s.Subscription.Next(ctx)
	if err != nil {
		return subscription.Message{}, final(err)
	}
	return m, nil
}

// final is an error as a fault where the WebSocket API says that to ask again is
// of no use.
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
		return fault.New(kind, "the token has expired")
	case fault.Forbidden:
		return fault.NotYours("session")
	case fault.NotFound:
		return fault.Missing("Session")
	default:
		return err
	}
}
