package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// header reads a session that the user owns.
func (s *Store) header(ctx context.Context, userID, id string) (*header, error) {
	item, err := s.db.GetItem(ctx, keys.SessionKey(id))
	return ownHeader(item, err, userID, id)
}

// headerEventually is header at half the price, for callers that notice a header that
// is not the latest.
func (s *Store) headerEventually(ctx context.Context, userID, id string) (*header, error) {
	item, err := s.db.GetEventually(ctx, keys.SessionKey(id))
	return ownHeader(item, err, userID, id)
}

// headerReader reads a session that the user owns.
type headerReader func(ctx context.Context, userID, id string) (*header, error)

// eventualOnce returns a headerReader for callers that compare the header with a
// consistent one in the end: only its first call is eventually consistent, at half
// the price. A session that a lagging replica lacks, or gives another owner, is read
// again at once.
func (s *Store) eventualOnce() headerReader {
	first := true
	return func(ctx context.Context, userID, id string) (*header, error) {
		if !first {
			return s.header(ctx, userID, id)
		}
		first = false
		h, err := s.headerEventually(ctx, userID, id)
		if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
			return s.header(ctx, userID, id)
		}
		return h, err
	}
}

func ownHeader(item table.Item, err error, userID, id string) (*header, error) {
	var h header
	if err == nil && item != nil {
		err = table.Decode(item, &h)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read session %s: %w", id, err)
	case item == nil:
		return nil, missingSession()
	case h.User != userID:
		return nil, fault.NotYours("session")
	}
	return &h, nil
}

// notFoundIfDeleted returns NotFound when the session was deleted during the
// operation, and err otherwise. Without a header it returns err.
func (s *Store) notFoundIfDeleted(ctx context.Context, h *header, err error) error {
	if h == nil {
		return err
	}
	return s.deletedOr(ctx, h.Log, err)
}

// holds implements owner. If the session has lost the log, that is swept again, since an
// entry may have come after the last sweep.
func (s *Store) holds(ctx context.Context, l Log) error {
	now, err := s.header(ctx, l.User, l.Session)
	switch {
	case err == nil && now.Log == l.Name:
		return nil
	case err != nil && !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)):
		return fmt.Errorf("%w: whether the session still exists is not known: %v", table.ErrUndecided, err) //nolint:errorlint // as in records
	}
	if err := s.sweepLater(ctx, l.Name); err != nil {
		return err
	}
	return missingSession()
}

// render returns the domain's session for a header and the head of its log.
func (s *Store) render(h *header, at head) (session.Session, error) {
	var meta json.RawMessage
	if err := s.content.Decode(h.Meta, &meta); err != nil {
		return session.Session{}, fmt.Errorf("metadata of session %s: %w", h.id(), err)
	}
	out := session.Session{
		ID:          h.id(),
		UserID:      h.User,
		AppName:     h.App,
		Agent:       h.Agent,
		Name:        h.Name,
		Status:      h.Status,
		Metadata:    meta,
		Epoch:       h.Epoch,
		HeadSeq:     at.last(),
		CreatedTime: h.Created,
		UpdatedTime: max(h.Created, h.lastActivity(), at.time),
		Version:     h.Version,
	}
	if h.Run != "" {
		out.ActiveRunID = &h.Run
	}
	if h.Retention > 0 {
		out.Retention, out.ExpiresTime = h.Retention, h.retained().Expires(out.UpdatedTime)
	}
	if o := h.Origin; o != nil {
		out.Fork = &session.Fork{
			SessionID: o.Session, RewindBeforeInvocationID: o.Before, BoundaryFound: o.Found, Taken: o.Base,
		}
	}
	return out, nil
}

// headerAndHead reads a session and the head of its log. If the head includes a
// rewind that the header does not, both are read again, so that they belong
// together.
func (s *Store) headerAndHead(ctx context.Context, userID, id string) (h *header, at head, err error) {
	return s.headerAndHeadBy(ctx, s.header, userID, id)
}

// headerAndHeadBy is headerAndHead with a headerReader.
func (s *Store) headerAndHeadBy(ctx context.Context, read headerReader, userID, id string) (h *header, at head, err error) {
	err = records.Settled(ctx, func() (err error) {
		if h, err = read(ctx, userID, id); err != nil {
			return err
		}
		at, err = s.readHead(ctx, h.ofLog())
		switch {
		case errors.Is(err, fault.Of(fault.NotFound)):
			err = s.createdAgain(ctx, read, h, err)
		case err == nil && at.lastMarker > h.Marker:
			err = errRewound
		}
		return err
	})
	if err != nil {
		return nil, head{}, err
	}
	return h, at, nil
}

// createdAgain returns errRewound if a session whose log was deleted has another log now,
// and err otherwise.
func (s *Store) createdAgain(ctx context.Context, read headerReader, h *header, err error) error {
	now, failed := read(ctx, h.User, h.id())
	switch {
	case failed != nil:
		return failed
	case now.Log != h.Log:
		return errRewound
	}
	return err
}

// Get implements session.Store.
func (s *Store) Get(ctx context.Context, userID, id string) (session.Session, error) {
	h, at, _, err := s.readSettled(ctx, userID, id)
	if err != nil {
		return session.Session{}, err
	}
	return s.render(h, at)
}
