package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
)

const (
	// handTries is how often a queued run is handed over before it fails.
	handTries = 3
	// handPause is the pause before the next try.
	handPause = 500 * time.Millisecond
)

// Next begins queued runs.
type Next struct {
	Store interface {
		Ender
		StartQueued(ctx context.Context, userID, sessionID string) (*Run, error)
	}
	// Hand hands a run to a worker; it may do so twice for the same run.
	Hand func(context.Context, Ref) error
}

// Start begins the first run of a session's queue, if it may begin now, and reports
// whether a run was handed to a worker. It may be repeated: a run that no worker has
// claimed is handed over again. A run that cannot be handed over fails, and the next
// one takes over its input.
func (n Next) Start(ctx context.Context, userID, sessionID string) (bool, error) {
	r, err := n.Store.StartQueued(ctx, userID, sessionID)
	if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
		return false, nil // the session was deleted
	}
	if err != nil || r == nil {
		return false, err
	}
	ref := Ref{UserID: userID, SessionID: sessionID, RunID: r.ID}
	for try := 1; ; try++ {
		if err = n.Hand(ctx, ref); err == nil {
			return true, nil
		}
		if try == handTries || retry.Sleep(ctx, handPause) != nil {
			break
		}
	}
	if ctx.Err() != nil { // a repeat hands it over, or its lease expires
		return false, err
	}
	failed, endErr := failStart(ctx, n.Store, ref)
	if !failed {
		return true, nil // it was cancelled, or a worker has executed it
	}
	return false, errors.Join(fmt.Errorf("hand over queued run %s: %w", r.ID, err), endErr)
}
