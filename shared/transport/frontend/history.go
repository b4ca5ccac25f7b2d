package frontend

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

const (
	// firstPage is how many of a session's newest events a request reads first. Most need
	// no more.
	firstPage = 20
	// pageGrowth is by how much each further page is larger than the one before.
	pageGrowth = 3
)

// History reads the effective events of a session from its end back, as far as needed.
type History struct {
	conversation.History

	server *Server
	of     session.Session
	query  session.EventQuery
	events []session.Event // all that were read, in order
}

// History reads the newest events of a session.
func (s *Server) History(ctx context.Context, of session.Session) (*History, error) {
	return s.HistoryBefore(ctx, of, 0, firstPage)
}

// HistoryBefore reads the newest events of a session before a position, 0 for all, up to
// a number and session.PageBytes.
func (s *Server) HistoryBefore(ctx context.Context, of session.Session, before int64, page int) (*History, error) {
	h := &History{server: s, of: of, query: session.EventQuery{
		View: session.Effective, Descending: true, Before: before, Limit: page,
	}}
	h.Partial = true
	return h, h.Older(ctx)
}

// Older reads more events of a partial history. It returns an error that Begin tries
// again if the session was rewound since the first.
func (h *History) Older(ctx context.Context) error {
	if !h.Partial {
		return fmt.Errorf("the history is whole: %w", conversation.ErrOlder)
	}
	page, err := h.server.Sessions.Events(ctx, h.of.UserID, h.of.ID, h.query)
	if err != nil {
		return readError(err)
	}
	slices.Reverse(page.Events)
	h.events = slices.Concat(page.Events, h.events)
	h.History = conversation.Newest(h.events, page.Next != nil)
	if page.Next != nil {
		h.query.Resume, h.query.Limit = *page.Next, min(pageGrowth*h.query.Limit, session.MaxPage)
	}
	return nil
}

// Enough calls do, and again with older events while it returns conversation.ErrOlder.
func (h *History) Enough(ctx context.Context, do func(conversation.History) error) error {
	for {
		err := do(h.History)
		if !errors.Is(err, conversation.ErrOlder) {
			return err
		}
		if err := h.Older(ctx); err != nil {
			return err
		}
	}
}

// last returns the invocation of the newest event; "" without one.
func (h *History) last() string {
	if len(h.events) == 0 {
		return ""
	}
	return h.events[len(h.events)-1].InvocationID
}

// Whole reads the rest of the history before a run, or of the session without one.
func (s *Server) Whole(ctx context.Context, b *Begun) error {
	if !b.Before.Partial {
		return nil
	}
	before := int64(0)
	if b.Ref.RunID != "" {
		before = b.After + 1
	}
	h, err := s.HistoryBefore(ctx, session.Session{ID: b.Ref.SessionID, UserID: b.Ref.UserID}, before, session.MaxPage)
	for err == nil && h.Partial {
		err = h.Older(ctx)
	}
	if err != nil {
		return err
	}
	b.Before = h.History
	return nil
}

// readError returns the error of a page; errAgain if the session was rewound between two
// pages.
func readError(err error) error {
	if errors.Is(err, fault.Of(fault.Conflict)) {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return err
}
