package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// parallelReads is how many logs' watchers are read at a time.
const parallelReads = 16

// Fanout tells news to whom they concern. It is safe for concurrent use.
type Fanout struct {
	audience Audience
	sender   *ConnectionSender
	log      *slog.Logger
	now      func() time.Time
	reads    chan struct{}
}

// NewFanout returns a fan-out; random, from 0 to below 1, spreads waits.
func NewFanout(
	audience Audience, pusher Pusher, log *slog.Logger, now func() time.Time, random func() float64,
) *Fanout {
	return &Fanout{
		audience: audience,
		sender:   NewConnectionSender(pusher, random),
		log:      log,
		now:      now,
		reads:    make(chan struct{}, parallelReads),
	}
}

// Deliver tells a batch of news, those of one log in the order given. The
// errors stand where their news do; nil means that every connection got all of
// it, is gone, or was closed so that its client repairs what it lacks. An error
// means that to tell the news again may help: nobody knows who watches, a
// connection could be neither reached nor closed, or ctx came to its end.
func (f *Fanout) Deliver(ctx context.Context, news []LogUpdate) []error {
	errs := make([]error, len(news))
	var running sync.WaitGroup
	for log, places := range byLog(news) {
		running.Go(func() {
			whole := LogUpdate{Log: log}
			for _, i := range places {
				whole.Messages = append(whole.Messages, news[i].Messages...)
				whole.Revoked = append(whole.Revoked, news[i].Revoked...)
			}
			told, err := f.deliverToLog(ctx, whole)
			for _, i := range places {
				if errs[i] = err; told && err == nil && !news[i].Time.IsZero() {
					metrics.Took(ctx, metrics.PushDelay, f.now().Sub(news[i].Time))
				}
			}
		})
	}
	running.Wait()
	return errs
}

// byLog says where the news of each log stand; those that tell nobody anything
// are left out.
func byLog(news []LogUpdate) map[string][]int {
	places := map[string][]int{}
	for i, n := range news {
		if len(n.Messages) > 0 || len(n.Revoked) > 0 {
			places[n.Log] = append(places[n.Log], i)
		}
	}
	return places
}

// deliverToLog tells the news of one log to those who may still watch, and the others
// that they may not. It reports whether anybody heard the messages.
func (f *Fanout) deliverToLog(ctx context.Context, news LogUpdate) (told bool, err error) {
	sessionID, subs, err := f.subscriptions(ctx, news.Log)
	if err != nil {
		return false, fmt.Errorf("find who watches log %s: %w", news.Log, err)
	}
	ctx = logs.With(ctx, slog.String(logs.SessionID, sessionID))
	revoked := news.Revoked
	if slices.ContainsFunc(news.Messages, func(m Message) bool { return m.Type == Deleted }) {
		revoked = nil // they went with the session, which says more
	}
	connections, over := f.sort(subs, revoked)
	dismissed := make(chan error, 1)
	go func() { dismissed <- f.closeSubscriptions(ctx, news.Log, over) }()
	told, err = f.deliver(ctx, news, sessionID, connections)
	return told, errors.Join(err, <-dismissed)
}

// sort parts the connections that may be told from the subscriptions that are over.
func (f *Fanout) sort(subs []Subscription, revoked []Grant) (connections []string, over []ended) {
	now := f.now()
	for _, sub := range subs {
		reason := sub.Over(now)
		if reason == "" && sub.among(revoked) {
			reason = ReasonRevoked
		}
		if reason == "" {
			connections = append(connections, sub.Connection)
		} else {
			over = append(over, ended{sub, reason})
		}
	}
	slices.Sort(connections)
	return slices.Compact(connections), over
}

// deliver brings the messages to the connections.
func (f *Fanout) deliver(ctx context.Context, news LogUpdate, sessionID string, connections []string) (bool, error) {
	if len(connections) == 0 || len(news.Messages) == 0 {
		return false, nil
	}
	frames := f.frames(ctx, sessionID, merged(news.Messages))
	gone, err := f.push(ctx, connections, frames)
	metrics.Count(ctx, metrics.ConnectionsGone, float64(len(gone)))
	if len(gone) > 0 {
		// Whoever is left behind here is found gone again next time.
		if err := f.audience.Leave(ctx, news.Log, gone); err != nil {
			f.log.WarnContext(ctx, "connections that are gone still stand as watchers",
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

// frames encodes each message once, however many watch. One that cannot be
// encoded leaves a gap, which clients repair.
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

// push brings the frames to every connection and returns which are gone.
func (f *Fanout) push(ctx context.Context, connections []string, frames [][]byte) ([]string, error) {
	errs := make([]error, len(connections))
	var running sync.WaitGroup
	for i, connection := range connections {
		running.Go(func() { errs[i] = f.sender.Send(ctx, connection, frames) })
	}
	running.Wait()
	var gone []string
	var failed []error
	for i, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, ErrGone):
			gone = append(gone, connections[i])
		case errors.Is(err, ErrCut):
			f.log.InfoContext(ctx, "a connection was closed for being slow or broken",
				"connection", connections[i], "error", err)
		default:
			failed = append(failed, fmt.Errorf("connection %s: %w", connections[i], err))
		}
	}
	return gone, errors.Join(failed...)
}
