package frontend

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

const (
	// cleanupTime bounds what is done for a run that did not start.
	cleanupTime = 5 * time.Second
	// maxBegins bounds the tries to begin a run in a session that others change.
	maxBegins = 4
)

// Beginning is a request to run an agent.
type Beginning struct {
	*Server

	Agent string
	// In is the input. Resolve determines it again from the session and its history,
	// both empty if there is none; nil leaves it as it is. It may return
	// conversation.ErrOlder. unfinished reports that the last run failed or was cancelled.
	In      conversation.Input
	Resolve func(of session.Session, h conversation.History, unfinished bool) (conversation.Input, error)
}

// Begun is a run to be streamed.
type Begun struct {
	Ref     run.Ref // without a RunID if the request has nothing new
	AsGuest bool
	Queued  bool // the run waits for those before it
	// Before is the history before the run, without its input. Whole completes it.
	Before conversation.History
	After  int64 // a position before the run's events
}

// Begin starts the run of a request, or finds the one that the same request started
// before. Another request may change the session at the same time; then it looks
// again.
func (b *Beginning) Begin(ctx context.Context) (out Begun, err error) {
	for range maxBegins {
		if out, err = b.tryBegin(ctx); !errors.Is(err, errAgain) {
			return out, err
		}
	}
	return out, err
}

var errAgain = errors.New("the session has changed")

func (b *Beginning) tryBegin(ctx context.Context) (Begun, error) {
	of, p, err := b.ReadSession(ctx, b.In.SessionID, access.StartRun)
	isNew := errors.Is(err, fault.Of(fault.NotFound))
	switch {
	case isNew:
		of, p = session.Session{ID: b.In.SessionID}, access.Permission{By: access.CallerOf(ctx)}
	case err != nil:
		return Begun{}, err
	}
	h := &History{}
	var unfinished *run.Run
	if !isNew {
		if h, err = b.History(ctx, of); err != nil {
			return Begun{}, err
		}
		if unfinished, err = b.unfinished(ctx, of, h); err != nil {
			return Begun{}, err
		}
	}
	var out Begun
	err = h.Enough(ctx, func(h conversation.History) error {
		out, err = b.begin(ctx, of, isNew, p, h, unfinished)
		return err
	})
	return out, err
}

// begin begins the run with as much of the session's history as was read. It returns
// conversation.ErrOlder before it has changed anything.
func (b *Beginning) begin(
	ctx context.Context, of session.Session, isNew bool, p access.Permission, h conversation.History, unfinished *run.Run,
) (out Begun, err error) {
	if b.Resolve != nil {
		if b.In, err = b.Resolve(of, h, unfinished != nil); err != nil {
			return Begun{}, err
		}
	}
	out = Begun{AsGuest: p.Guest(), After: of.HeadSeq}
	out.Ref = run.Ref{UserID: of.UserID, SessionID: of.ID, RunID: b.In.RunID}
	logs.Add(ctx, slog.String(logs.SessionID, of.ID), slog.String(logs.RunID, b.In.RunID))
	ends := conversation.Ends{}
	if !isNew {
		if found, err := b.startedBefore(ctx, &out, h); found || err != nil {
			return out, err
		}
		if of.ActiveRunID != nil && b.In.OnActive == run.Reject {
			return out, fault.New(fault.RunActive, "a run is in progress").With("run_id", *of.ActiveRunID)
		}
		if ends, err = b.endsOf(ctx, of, unfinished); err != nil {
			return out, err
		}
	}
	in := b.In
	in.Append = in.Append || of.ActiveRunID != nil && in.OnActive == run.Enqueue // the active run goes on
	plan, err := in.Plan(h, ends)
	if err != nil {
		return out, err
	}
	if len(plan.Input) == 0 {
		out.Before, out.Ref.RunID = h, ""
		return out, nil
	}
	out.Before = h.Until(plan.Rewind, ends.Discarded, ends.Replaced)
	return out, b.start(ctx, &out, of, isNew, plan, p)
}
