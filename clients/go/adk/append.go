package adk

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/v2/platform"
	adk "google.golang.org/adk/v2/session"

	rethread "github.com/rethread/rethread/clients/go"
)

// ErrStale is returned by AppendEvent if the session was rewound, or another
// writer appended to it, after this copy was read. Get the session again.
var ErrStale = errors.New("the session has changed since it was read")

// AppendEvent implements ADK's session.Service. Partial events are not stored,
// nor is temporary state, which is kept only in the given session. A nil state
// value deletes the key. An event without an id gets one. Appending an event
// again with the same id and content changes nothing; with other content it
// fails with ErrConflict.
//
// A session returned by this service records how much of the log the agent has
// read: AppendEvent fails with ErrStale if the log has changed since. Of any
// other adk.Session only the ids are used, without this check.
func (s *SessionService) AppendEvent(ctx context.Context, to adk.Session, e *adk.Event) error {
	switch {
	case to == nil:
		return fmt.Errorf("%w: the session is nil", ErrMalformed)
	case e == nil:
		return fmt.Errorf("%w: the event is nil", ErrMalformed)
	case e.Partial:
		return nil
	}
	identified := *e
	if e.ID == "" {
		identified.ID = platform.NewUUID(ctx)
	}
	encoded, err := s.codec.encode(&identified)
	if err == nil {
		request := rethread.AppendRequest{Events: []rethread.EventRequest{encoded}}
		if h, ours := to.(*handle); ours {
			err = s.appendTo(ctx, h, e, request)
		} else {
			err = s.appendByID(ctx, to, e, request)
		}
	}
	if err != nil {
		return fmt.Errorf("append event %s to session %s: %w", e.ID, to.ID(), err)
	}
	return nil
}

// appendByID appends to a session of which only the ids are known, so without an
// expected head.
func (s *SessionService) appendByID(ctx context.Context, to adk.Session, e *adk.Event, request rethread.AppendRequest) error {
	found, err := s.find(ctx, to.AppName(), to.UserID(), to.ID())
	if err != nil {
		return err
	}
	stored, err := s.store(ctx, found.UserID, found.ID, request)
	if err == nil {
		e.ID = stored.ID
	}
	return err
}

// store appends a request's only event, whose id makes repeating it harmless.
func (s *SessionService) store(ctx context.Context, userID, id string, request rethread.AppendRequest) (rethread.Event, error) {
	stored, err := s.users.as(userID).Events.Append(ctx, id, request)
	if err != nil {
		return rethread.Event{}, err
	}
	if len(stored) != 1 {
		return rethread.Event{}, fmt.Errorf("got %d stored events for one", len(stored))
	}
	return stored[0], nil
}

// appendTo appends on condition that the head of the log is the one that the
// handle has read.
func (s *SessionService) appendTo(ctx context.Context, h *handle, e *adk.Event, request rethread.AppendRequest) error {
	h.appending.Lock()
	defer h.appending.Unlock()
	const tries = 5
	for try := 1; ; try++ {
		request.ExpectedSeq = rethread.Ptr(h.head)
		stored, err := s.store(ctx, h.user, h.id, request)
		switch {
		case err == nil:
			e.ID = stored.ID
			h.head = max(h.head, stored.Seq)
			h.apply(e)
			return nil
		case !isBehind(err):
			return err
		case try == tries:
			return errors.Join(ErrStale, err)
		}
		if err := s.catchUp(ctx, h); err != nil {
			return err
		}
	}
}

// isBehind reports whether an append failed because the head of the log is not
// the expected one.
func isBehind(err error) bool {
	var problem *Error
	return errors.As(err, &problem) && errors.Is(err, ErrConflict) && problem.Members["head_seq"] != nil
}

// catchUp advances the handle's head past log entries that are not events, such
// as the position of a saved task. It returns ErrStale if there are new events.
func (s *SessionService) catchUp(ctx context.Context, h *handle) error {
	client := s.users.as(h.user)
	now, err := client.Sessions.Get(ctx, h.id)
	if err != nil {
		return err
	}
	if now.Epoch != h.epoch {
		return fmt.Errorf("%w: it was rewound", ErrStale)
	}
	for seen, err := range client.Events.List(h.id, rethread.EventQuery{After: h.head, Limit: 1}).All(ctx) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: event %s of %s was appended", ErrStale, seen.ID, seen.Author)
	}
	h.head = now.HeadSeq
	return nil
}
