package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Header reads a session that the user owns.
func (s *reader) Header(ctx context.Context, userID, id string) (*Header, error) {
	item, err := s.DB.GetItem(ctx, keys.SessionKey(id))
	return s.ownHeader(ctx, item, err, userID, id)
}

// HeaderEventually is header at half the price, for callers that notice a header that
// is not the latest.
func (s *reader) HeaderEventually(ctx context.Context, userID, id string) (*Header, error) {
	item, err := s.DB.GetEventually(ctx, keys.SessionKey(id))
	return s.ownHeader(ctx, item, err, userID, id)
}

// HeaderReader reads a session that the user owns.
type HeaderReader func(ctx context.Context, userID, id string) (*Header, error)

// EventualOnce returns a HeaderReader for callers that compare the header with a
// consistent one in the end: only its first call is eventually consistent, at half
// the price. A session that a lagging replica lacks, or gives another owner, is read
// again at once.
func (s *reader) EventualOnce() HeaderReader {
	first := true
	return func(ctx context.Context, userID, id string) (*Header, error) {
		if !first {
			return s.Header(ctx, userID, id)
		}
		first = false
		h, err := s.HeaderEventually(ctx, userID, id)
		if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
			return s.Header(ctx, userID, id)
		}
		return h, err
	}
}

func (s *reader) ownHeader(ctx context.Context, item table.Item, err error, userID, id string) (*Header, error) {
	var h Header
	if err == nil {
		item, err = s.Present(ctx, item)
	}
	if err == nil && item != nil {
		err = table.Decode(item, &h)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read session %s: %w", id, err)
	case item == nil:
		return nil, eventlog.MissingSession()
	case h.User != userID:
		return nil, fault.NotYours("session")
	}
	if err := s.ReadAncestors(ctx, h.Origin); err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	return &h, nil
}

// NotFoundIfDeleted returns NotFound when the session was deleted during the
// operation, and err otherwise. Without a header it returns err.
func (s *reader) NotFoundIfDeleted(ctx context.Context, h *Header, err error) error {
	if h == nil {
		return err
	}
	return s.logs.DeletedOr(ctx, h.Log, err)
}

// Holds implements eventlog.Owner. If the session has lost the log, that is swept again, since an
// entry may have come after the last sweep.
func (s *reader) Holds(ctx context.Context, l eventlog.Log) error {
	now, err := s.Header(ctx, l.User, l.Session)
	switch {
	case err == nil && now.Log == l.Name:
		return nil
	case err != nil && !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)):
		return fmt.Errorf("%w: whether the session still exists is not known: %v", table.ErrUndecided, err) //nolint:errorlint // as in records
	}
	if err := s.SweepLater(ctx, l.Name); err != nil {
		return err
	}
	return eventlog.MissingSession()
}

// StillHolds implements eventlog.Owner.
func (*Store) StillHolds(l eventlog.Log) table.Write { return Ref{ID: l.Session, Log: l.Name}.Check() }

// Render returns the domain's session for a header and the head of its log.
func (s *reader) Render(ctx context.Context, h *Header, head eventlog.Head) (session.Session, error) {
	return s.render(ctx, h, head.Last(), max(h.Created, h.ActiveAt(), head.Time))
}

func (s *reader) render(ctx context.Context, h *Header, head, updated int64) (session.Session, error) {
	meta, err := s.Metadata(ctx, h)
	if err != nil {
		return session.Session{}, err
	}
	out := session.Session{
		ID:          h.ID(),
		UserID:      h.User,
		AppName:     h.App,
		Agent:       h.Agent,
		Name:        h.Name,
		Status:      h.Status,
		Metadata:    meta,
		Epoch:       h.Epoch,
		HeadSeq:     head,
		CreatedTime: h.Created,
		UpdatedTime: updated,
		Version:     h.Version,
	}
	if h.Run != "" {
		out.ActiveRunID = &h.Run
	}
	if h.Retention > 0 {
		out.Retention, out.ExpiresTime = h.Retention, h.Retained().Expires(out.UpdatedTime)
	}
	if o := h.Origin; o != nil {
		out.Fork = &session.Fork{
			SessionID: o.Session, RewindBeforeInvocationID: o.Before, BoundaryFound: o.Found, Taken: o.Base,
		}
	}
	return out, nil
}

// HeaderAndHead reads a session and the head of its log. If the head includes a
// rewind that the header does not, both are read again, so that they belong
// together.
func (s *reader) HeaderAndHead(ctx context.Context, userID, id string) (h *Header, head eventlog.Head, err error) {
	return s.HeaderAndHeadBy(ctx, s.Header, userID, id)
}

// HeaderAndHeadBy is HeaderAndHead with a HeaderReader.
func (s *reader) HeaderAndHeadBy(ctx context.Context, read HeaderReader, userID, id string) (h *Header, head eventlog.Head, err error) {
	err = records.Settled(ctx, func() (err error) {
		if h, err = read(ctx, userID, id); err != nil {
			return err
		}
		head, err = s.logs.ReadHead(ctx, h.OfLog())
		switch {
		case errors.Is(err, fault.Of(fault.NotFound)):
			err = s.createdAgain(ctx, read, h, err)
		case err == nil && head.LastMarker > h.Marker:
			err = eventlog.ErrRewound
		}
		return err
	})
	if err != nil {
		return nil, eventlog.Head{}, err
	}
	return h, head, nil
}

// createdAgain returns ErrRewound if a session whose log was deleted has another log now,
// and err otherwise.
func (s *reader) createdAgain(ctx context.Context, read HeaderReader, h *Header, err error) error {
	now, failed := read(ctx, h.User, h.ID())
	switch {
	case failed != nil:
		return failed
	case now.Log != h.Log:
		return eventlog.ErrRewound
	}
	return err
}
