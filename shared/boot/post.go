package boot

import (
	"context"

	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/watch"
)

// PostHandler is the Lambda handler for a part of a crowd.
type PostHandler = func(context.Context, watch.Part) (watch.Posted, error)

// StartPost runs the function that sends messages to a part of a crowd until Lambda
// stops it. It posts to their connections at CONNECTIONS_URL.
func StartPost() {
	Start(func(d Deps) (any, error) {
		pusher, err := d.Pusher()
		if err != nil {
			return nil, err
		}
		return Post(watch.NewPoster(pusher, d.Log)), nil
	})
}

// Post sends parts, and leaves time to report failures.
func Post(by *watch.Poster) PostHandler {
	return func(ctx context.Context, part watch.Part) (watch.Posted, error) {
		ctx, cancel := batch.TimeToAnswer(ctx)
		defer cancel()
		return by.Post(ctx, part)
	}
}
