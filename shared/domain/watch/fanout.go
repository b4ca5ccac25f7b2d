package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// parallelReads is how many logs' watchers are read concurrently.
const parallelReads = 16

// Fanout sends updates to the watchers that they concern. It is safe for concurrent
// use.
type Fanout struct {
	audience Audience
	poster   *Poster
	log      *slog.Logger
	now      func() time.Time
	reads    chan struct{}
	pace     *rate.Limiter // of posts to crowds
	others   PostPart      // nil for nobody
}

// NewFanout returns a fan-out.
func NewFanout(audience Audience, pusher Pusher, log *slog.Logger, now func() time.Time) *Fanout {
	return &Fanout{
		audience: audience,
		poster:   NewPoster(pusher, log),
		log:      log,
		now:      now,
		reads:    make(chan struct{}, parallelReads),
		pace:     pacer(DefaultPostRate),
	}
}

// Deliver sends a batch of updates, those of one log in the given order. It returns
// an error at the index of each update that should be delivered again: its watchers
// could not be read, a connection could be neither reached nor closed, or ctx
// ended. A nil error means that every connection got the whole update, is gone, or
// was closed so that its client catches up.
func (f *Fanout) Deliver(ctx context.Context, updates []LogUpdate) []error {
	errs := make([]error, len(updates))
	var running sync.WaitGroup
	for log, indexes := range byLog(updates) {
		running.Go(func() {
			update := LogUpdate{Log: log}
			for _, i := range indexes {
				update.Messages = append(update.Messages, updates[i].Messages...)
				update.Revoked = append(update.Revoked, updates[i].Revoked...)
			}
			sent, err := f.deliverUpdate(ctx, update)
			for _, i := range indexes {
				if errs[i] = err; sent && err == nil && !updates[i].Time.IsZero() {
					metrics.Took(ctx, metrics.PushDelay, f.now().Sub(updates[i].Time))
				}
			}
		})
	}
	running.Wait()
	return errs
}

// byLog returns the indexes of each log's updates; updates without content are left
// out.
func byLog(updates []LogUpdate) map[string][]int {
	indexes := map[string][]int{}
	for i, n := range updates {
		if len(n.Messages) > 0 || len(n.Revoked) > 0 {
			indexes[n.Log] = append(indexes[n.Log], i)
		}
	}
	return indexes
}

// deliverUpdate sends the update of one log to the connections that may still
// watch, and a notice to those that may not. It reports whether any connection got
// the messages.
func (f *Fanout) deliverUpdate(ctx context.Context, update LogUpdate) (sent bool, err error) {
	sessionID, subs, err := f.subscriptions(ctx, update.Log)
	if err != nil {
		return false, fmt.Errorf("read the watchers of log %s: %w", update.Log, err)
	}
	ctx = logs.With(ctx, slog.String(logs.SessionID, sessionID))
	revoked := update.Revoked
	if slices.ContainsFunc(update.Messages, func(m Message) bool { return m.Type == Deleted }) {
		revoked = nil // they ended with the session, whose last message says so
	}
	connections, expired := f.split(subs, revoked)
	closed := make(chan error, 1)
	go func() { closed <- f.closeSubscriptions(ctx, update.Log, expired) }()
	sent, err = f.sendMessages(ctx, update, sessionID, connections)
	return sent, errors.Join(err, <-closed)
}

// split separates the connections that may watch from the subscriptions that have
// ended.
func (f *Fanout) split(subs []Subscription, revoked []Grant) (connections []string, expired []ended) {
	now := f.now()
	for _, sub := range subs {
		reason := sub.EndReason(now)
		if reason == "" && sub.grantedBy(revoked) {
			reason = ReasonRevoked
		}
		if reason == "" {
			connections = append(connections, sub.Connection)
		} else {
			expired = append(expired, ended{sub, reason})
		}
	}
	slices.Sort(connections)
	return slices.Compact(connections), expired
}

// sendMessages sends the messages to the connections.
func (f *Fanout) sendMessages(ctx context.Context, update LogUpdate, sessionID string, connections []string) (bool, error) {
	if len(connections) == 0 || len(update.Messages) == 0 {
		return false, nil
	}
	frames := f.frames(ctx, sessionID, merged(update.Messages, mergeAbove(len(connections))))
	gone, err := f.push(ctx, connections, frames)
	metrics.Count(ctx, metrics.ConnectionsGone, float64(len(gone)))
	if len(gone) > 0 {
		// A connection that stays here is found to be gone again next time.
		if err := f.audience.Leave(ctx, update.Log, gone); err != nil {
			f.log.WarnContext(ctx, "connections that are gone could not be removed from the watchers",
				"connections", len(gone), "error", err)
		}
	}
	return len(gone) < len(connections), err
}

func (f *Fanout) subscriptions(ctx context.Context, log string) (string, []Subscription, error) {
	select {
	case f.reads <- struct{}{}:
	case <-ctx.Done():
		return "", nil, context.Cause(ctx)
	}
	defer func() { <-f.reads }()
	return f.audience.Watchers(ctx, log)
}

// frames encodes each message once, however many connections watch. A message that
// cannot be encoded leaves a gap, which clients repair.
func (f *Fanout) frames(ctx context.Context, sessionID string, messages []Message) [][]byte {
	frames := make([][]byte, 0, len(messages))
	for _, m := range messages {
		frame, err := Frame(m, sessionID)
		if err != nil {
			f.log.ErrorContext(ctx, "a message cannot be encoded",
				"type", m.Type, "cursor", m.Cursor, "error", err)
			continue
		}
		frames = append(frames, frame)
	}
	return frames
}

// push sends the frames to every connection and returns which are gone.
func (f *Fanout) push(ctx context.Context, connections []string, frames [][]byte) ([]string, error) {
	if len(connections) >= crowd && len(frames) > 0 {
		return f.pushToCrowd(ctx, connections, frames)
	}
	posted, err := f.poster.Post(ctx, Part{connections, frames})
	return posted.Gone, err
}
