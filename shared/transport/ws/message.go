package ws

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/observe/logs"
)

// message answers a client's message. The connection is closed only if the
// caller's token has expired.
func (a *api) message(ctx context.Context, c *call) {
	act, err := parseAction(c.event.Body, c.event.IsBase64Encoded)
	if act.requestID == "" {
		act.requestID = c.event.RequestContext.RequestID // the id in the log
	}
	if err == nil {
		logs.Add(ctx, slog.String(logs.Route, act.name), slog.String(logs.SessionID, act.sessionID))
	}
	var frames [][]byte
	if c.Caller.UserID == "" || c.expired(a.Now()) {
		err = fault.New(fault.TokenExpired, "the token that this connection was opened with has expired: connect anew")
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
			a.Log.WarnContext(ctx, "a connection with an expired token was not closed", "error", err)
		}
	}
}

// answerTime is the part of the function's time that is left to answer a frame.
const answerTime = 2 * time.Second

// act carries out an action and returns the frames of the answer. A panic
// becomes an error.
func (a *api) act(ctx context.Context, c *call, act action) (frames [][]byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			frames, err = nil, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	ctx, cancel := retry.Reserving(ctx, answerTime)
	defer cancel()
	switch act.name {
	case actionSubscribe:
		return a.subscribe(ctx, c, act)
	case actionUnsubscribe:
		if err := a.Subscriptions.Unsubscribe(ctx, c.Caller.UserID, act.sessionID, c.connection()); err != nil {
			return nil, err
		}
		return answerFrames(TypeUnsubscribed, act)
	default: // parseAction accepts only ping besides
		return answerFrames(TypePong, act)
	}
}

// subscribe subscribes the connection with the caller's permission for the
// session.
func (a *api) subscribe(ctx context.Context, c *call, act action) (frames [][]byte, err error) {
	err = a.Gate.Do(ctx, c.Caller, act.sessionID, access.Watch, func(permission access.Permission) error {
		frames, err = a.subscribeWith(ctx, c, act, permission)
		return err
	})
	return frames, err
}

// subscribeWith subscribes the connection before it reads the catch-up, so that
// no message is lost: a change during the read is sent, possibly before the
// answer.
func (a *api) subscribeWith(ctx context.Context, c *call, act action, permission access.Permission) ([][]byte, error) {
	err := a.Subscriptions.Subscribe(ctx, watch.Subscription{
		SessionID: act.sessionID, Owner: permission.Owner, Connection: c.connection(), Expires: c.Expires,
		Grant: c.grant(permission),
	})
	if err != nil {
		return nil, err
	}
	frames, err := a.catchUp(ctx, c, act, permission)
	if err == nil {
		return frames, nil
	}
	// A client that gets an error must not stay subscribed.
	if err := a.Subscriptions.Unsubscribe(ctx, c.Caller.UserID, act.sessionID, c.connection()); err != nil {
		a.Log.WarnContext(ctx, "a failed subscription was not deleted", "error", err)
	}
	return nil, err
}

// catchUp returns the answer to a subscription and the messages that the client
// lacks.
func (a *api) catchUp(ctx context.Context, c *call, act action, permission access.Permission) ([][]byte, error) {
	messages, err := a.Feed.CatchUp(ctx, permission.Owner, act.sessionID, act.from)
	if err != nil {
		return nil, err
	}
	if permission.Guest() {
		// The messages may be newer than the revocation of the share.
		if _, err := a.Gate.Permission(ctx, c.Caller, act.sessionID, access.Watch); err != nil {
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

// push sends frames to the client in order.
func (a *api) push(ctx context.Context, c *call, frames [][]byte) {
	err := a.sender.Send(ctx, c.connection(), frames)
	switch {
	case err == nil:
	case errors.Is(err, watch.ErrGone):
		// The client may have disconnected before its subscription was stored.
		if err := a.Subscriptions.Disconnect(ctx, c.connection()); err != nil {
			a.Log.WarnContext(ctx, "a closed connection is still subscribed", "error", err)
		}
	case errors.Is(err, watch.ErrClosed):
		a.Log.InfoContext(ctx, "a connection was closed for being slow or broken", "error", err)
	default:
		a.Log.ErrorContext(ctx, "an answer could not be sent", "error", err)
	}
}
