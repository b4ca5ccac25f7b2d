package ws

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/observe/logs"
)

// message answers what a client sent. Whatever is wrong with it, its connection
// stays as it is, unless the caller's token has expired.
func (a *api) message(ctx context.Context, c *call) {
	act, err := parseAction(c.event.Body, c.event.IsBase64Encoded)
	if act.requestID == "" {
		act.requestID = c.event.RequestContext.RequestID // the one that the log knows
	}
	if err == nil {
		logs.Add(ctx, slog.String(logs.Route, act.name), slog.String(logs.SessionID, act.sessionID))
	}
	var frames [][]byte
	if c.user == "" || c.expired(a.Now()) {
		err = fault.New(fault.Unauthorized, "the token that this connection was opened with has expired: connect anew")
	}
	if err == nil {
		frames, err = a.act(ctx, c, act)
	}
	if err != nil {
		frames = [][]byte{a.errorFrame(ctx, act, err)}
	}
	a.push(ctx, c, frames)
	if errors.Is(err, fault.Of(fault.Unauthorized)) {
		if err := a.Pusher.Close(ctx, c.connection()); err != nil {
			a.Log.WarnContext(ctx, "a connection with an expired token stays open", "error", err)
		}
	}
}

// act does what the client asks for and returns the frames of the answer. A
// panic becomes an error.
func (a *api) act(ctx context.Context, c *call, act action) (frames [][]byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			frames, err = nil, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	switch act.name {
	case actionSubscribe:
		return a.subscribe(ctx, c, act)
	case actionUnsubscribe:
		if err := a.Subscriptions.Unsubscribe(ctx, c.user, act.sessionID, c.connection()); err != nil {
			return nil, err
		}
		return answerFrames(TypeUnsubscribed, act)
	default: // a ping: nothing else was let through
		return answerFrames(TypePong, act)
	}
}

// subscribe makes the connection a watcher as whoever its caller is to the
// session.
func (a *api) subscribe(ctx context.Context, c *call, act action) (frames [][]byte, err error) {
	err = a.Gate.Do(ctx, c.caller(a.AdminScope), act.sessionID, access.Watch, func(pass access.Permission) error {
		frames, err = a.subscribeWith(ctx, c, act, pass)
		return err
	})
	return frames, err
}

// subscribeWith makes the connection a watcher before it reads what the watcher
// lacks, so that nothing falls in between: what happens meanwhile is pushed,
// possibly before the answer.
func (a *api) subscribeWith(ctx context.Context, c *call, act action, pass access.Permission) ([][]byte, error) {
	err := a.Subscriptions.Subscribe(ctx, watch.Subscription{
		SessionID: act.sessionID, Owner: pass.Owner, Connection: c.connection(), Expires: c.expires,
		Grant: c.grant(pass),
	})
	if err != nil {
		return nil, err
	}
	frames, err := a.catchUp(ctx, c, act, pass)
	if err == nil {
		return frames, nil
	}
	// Who is told of an error must not be watching nevertheless.
	if err := a.Subscriptions.Unsubscribe(ctx, c.user, act.sessionID, c.connection()); err != nil {
		a.Log.WarnContext(ctx, "a failed subscription stays", "error", err)
	}
	return nil, err
}

// catchUp is the answer to a subscription and all that the watcher lacks.
func (a *api) catchUp(ctx context.Context, c *call, act action, pass access.Permission) ([][]byte, error) {
	messages, err := a.Feed.CatchUp(ctx, pass.Owner, act.sessionID, act.from)
	if err != nil {
		return nil, err
	}
	if pass.Guest() {
		// What was read may be of after the share was revoked.
		if _, err := a.Gate.Permission(ctx, c.caller(a.AdminScope), act.sessionID, access.Watch); err != nil {
			return nil, err
		}
	}
	frames, err := answerFrames(TypeSubscribed, act)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		m.Subscription = act.requestID
		frame, err := watch.Frame(m, act.sessionID)
		if err != nil {
			return nil, err
		}
		frames = append(frames, frame)
	}
	return frames, nil
}

// push posts frames to the client in order.
func (a *api) push(ctx context.Context, c *call, frames [][]byte) {
	err := a.sender.Send(ctx, c.connection(), frames)
	switch {
	case err == nil:
	case errors.Is(err, watch.ErrGone):
		// It may have gone before its subscription was stored.
		if err := a.Subscriptions.Disconnect(ctx, c.connection()); err != nil {
			a.Log.WarnContext(ctx, "a connection that is gone is still subscribed", "error", err)
		}
	case errors.Is(err, watch.ErrCut):
		a.Log.InfoContext(ctx, "a connection was closed for being slow or broken", "error", err)
	default:
		a.Log.ErrorContext(ctx, "an answer could not be posted", "error", err)
	}
}
