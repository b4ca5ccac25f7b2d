package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"golang.org/x/time/rate"
)

// DefaultPostRate is how many messages a second crowds are sent if nothing else is
// configured: 30 % of the requests that an account's API Gateway takes.
const DefaultPostRate = 3000

// crowd is how many watchers of a session are a crowd, and the largest part of one.
// Fewer need a fraction of a second's posts, and wait for none.
const crowd = 500

// Part is a part of a crowd, and what each of it is sent, in order.
type Part struct {
	Connections []string `json:"connections"`
	Frames      [][]byte `json:"frames"`
}

// Posted is what became of a part: whoever is not gone got everything, or was closed.
type Posted struct {
	Gone []string `json:"gone,omitempty"`
}

// PostPart sends a part to its connections. After an error some may lack messages; it
// may be repeated.
type PostPart func(context.Context, Part) (Posted, error)

// pacer returns a limit of posts a second, without a burst that exceeds a part.
func pacer(posts int) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(posts), min(posts, crowd))
}

// Paced limits the posts to crowds to a number a second. It is called before the
// fan-out is used.
func (f *Fanout) Paced(posts int) *Fanout {
	f.pace = pacer(posts)
	return f
}

// Spread has the parts of crowds posted by others. A part that they fail to post is
// posted here. It is called before the fan-out is used.
func (f *Fanout) Spread(by PostPart) *Fanout {
	f.others = by
	return f
}

// pushToCrowd sends the frames to many connections, in parts, and returns which are
// gone. Its pace determines how often a crowd is sent something: its next batch of
// changes waits meanwhile, and is larger.
func (f *Fanout) pushToCrowd(ctx context.Context, connections []string, frames [][]byte) ([]string, error) {
	size := max(1, f.pace.Burst()/len(frames))
	parts := slices.Collect(slices.Chunk(connections, size))
	posted, errs := make([]Posted, len(parts)), make([]error, len(parts)+1)
	var running sync.WaitGroup
	for i, connections := range parts {
		if err := f.wait(ctx, len(connections)*len(frames)); err != nil {
			errs[len(parts)] = err
			break
		}
		running.Go(func() { posted[i], errs[i] = f.postPart(ctx, Part{connections, frames}) })
	}
	running.Wait()
	var gone []string
	for _, p := range posted {
		gone = append(gone, p.Gone...)
	}
	return gone, errors.Join(errs...)
}

// wait waits until so many messages may be posted.
func (f *Fanout) wait(ctx context.Context, posts int) error {
	for most := f.pace.Burst(); posts > 0; posts -= most {
		if err := f.pace.WaitN(ctx, min(posts, most)); err != nil {
			return fmt.Errorf("the crowd has to wait for too long: %w", err)
		}
	}
	return nil
}

func (f *Fanout) postPart(ctx context.Context, part Part) (Posted, error) {
	if f.others != nil {
		posted, err := f.others(ctx, part)
		if err == nil {
			return posted, nil
		}
		f.log.WarnContext(ctx, "a part of a crowd is posted without help", "connections", len(part.Connections), "error", err)
	}
	return f.poster.Post(ctx, part)
}

// Poster posts messages to many connections. It is safe for concurrent use.
type Poster struct {
	sender *ConnectionSender
	log    *slog.Logger
}

// NewPoster returns a poster.
func NewPoster(pusher Pusher, log *slog.Logger) *Poster {
	return &Poster{sender: NewConnectionSender(pusher), log: log}
}

// Post implements PostPart.
func (p *Poster) Post(ctx context.Context, part Part) (Posted, error) {
	errs := make([]error, len(part.Connections))
	var running sync.WaitGroup
	for i, connection := range part.Connections {
		running.Go(func() { errs[i] = p.sender.Send(ctx, connection, part.Frames) })
	}
	running.Wait()
	var posted Posted
	var failed []error
	for i, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, ErrGone):
			posted.Gone = append(posted.Gone, part.Connections[i])
		case errors.Is(err, ErrClosed):
			p.log.InfoContext(ctx, "a connection was closed for being slow or broken",
				"connection", part.Connections[i], "error", err)
		default:
			failed = append(failed, fmt.Errorf("connection %s: %w", part.Connections[i], err))
		}
	}
	return posted, errors.Join(failed...)
}
