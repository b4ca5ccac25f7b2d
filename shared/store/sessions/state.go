package sessions

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
)

// stateTries is how often the state is read while it changes concurrently.
const stateTries = 10

// ErrStateChanged says that the state changed while it was read.
var ErrStateChanged = errors.New("the state changed while it was read")

// State implements session.Store.
func (s *Store) State(ctx context.Context, userID, id string) (session.State, error) {
	h, head, err := s.HeaderAndHead(ctx, userID, id)
	if err != nil {
		return session.State{}, s.NotFoundIfDeleted(ctx, h, err)
	}
	unchanged := func(before, now eventlog.Head) bool { return before.LastState == now.LastState }
	c, _, err := s.SettledState(ctx, h.OfLog(), head, unchanged)
	switch {
	case errors.Is(err, ErrStateChanged):
		return session.State{}, records.Busy("the state changes too fast to be read")
	case err != nil:
		return session.State{}, s.NotFoundIfDeleted(ctx, h, err)
	}
	return c.State(), nil
}

// SettledState reads the state in all scopes as of a head. The scopes are read one by
// one, so the head is read again after them: a change in between would be visible
// only in part. If the head changed, the state is read again as of the new head; after
// stateTries attempts the error wraps ErrStateChanged. SettledState also returns the
// head of the state.
func (s *Store) SettledState(
	ctx context.Context, l eventlog.Log, head eventlog.Head, unchanged func(before, now eventlog.Head) bool,
) (c *eventlog.StateChange, now eventlog.Head, err error) {
	changed := func(err error) bool { return errors.Is(err, ErrStateChanged) }
	now = head
	err = retry.Do(ctx, retry.Policy{Tries: stateTries}, changed, func() (err error) {
		before := now
		if c, err = s.logs.LoadStates(ctx, l, before, session.Delta{"user:": nil, "app:": nil}); err != nil {
			return err
		}
		if now, err = s.logs.ReadHead(ctx, l); err == nil && !unchanged(before, now) {
			return ErrStateChanged
		}
		return err
	})
	return c, now, err
}
