package sessions

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// Ref is a session as packages beside this one know it.
type Ref struct {
	ID   string
	User string // who owns it
	Log  string // its log; a session created again has another
}

// Find is a session that a user owns: fault.NotFound or fault.Forbidden where none is.
func (s *Store) Find(ctx context.Context, userID, id string) (Ref, error) {
	h, err := s.header(ctx, userID, id)
	if err != nil {
		return Ref{}, err
	}
	return h.ref(), nil
}

func (h *header) ref() Ref { return Ref{ID: h.id(), User: h.User, Log: h.Log} }

// Check is a write that holds while the session is still the one that was found.
func (r Ref) Check() table.Write {
	return table.Check(sessionKey(r.ID), table.Equal(table.At(headerLog), r.Log))
}

// FindAny is a session, whosever it is; fault.NotFound where there is none.
func (s *Store) FindAny(ctx context.Context, id string) (Ref, error) {
	h, err := s.anyHeader(ctx, id)
	if err != nil {
		return Ref{}, err
	}
	return h.ref(), nil
}

// HeaderKey is where a session stands, for who reads several and other things at once.
func HeaderKey(id string) table.Key { return sessionKey(id) }

// RefOf reads what stands under a HeaderKey.
func RefOf(item table.Item) (Ref, error) {
	var h header
	if err := table.Decode(item, &h); err != nil || h.PK == "" {
		return Ref{}, err
	}
	return h.ref(), nil
}

// Listed is the session of what stands under a HeaderKey, as a list shows it; ok is
// false where it does not match the list's filters.
func (s *Store) Listed(ctx context.Context, item table.Item, q session.ListQuery) (out session.Session, ok bool, err error) {
	var h header
	if err := table.Decode(item, &h); err != nil {
		return out, false, err
	}
	if !q.Matches(h.Agent, h.Status, h.Name) {
		return out, false, nil
	}
	out, err = s.listed(ctx, &h)
	return out, err == nil, err
}

// anyHeader reads a session, whosever it is.
func (s *Store) anyHeader(ctx context.Context, id string) (*header, error) {
	var h header
	found, err := s.db.Get(ctx, sessionKey(id), &h)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	if !found {
		return nil, missingSession()
	}
	return &h, nil
}
