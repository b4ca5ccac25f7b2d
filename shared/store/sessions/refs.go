package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// Ref identifies a session for other packages of the store.
type Ref struct {
	ID   string
	User string // the owner
	Log  string // its log; a session created again has another
}

// Find returns a session that a user owns; fault.NotFound or fault.Forbidden if it
// does not exist or is another user's.
func (s *Store) Find(ctx context.Context, userID, id string) (Ref, error) {
	h, err := s.Header(ctx, userID, id)
	if err != nil {
		return Ref{}, err
	}
	return h.Ref(), nil
}

// Ref returns the reference to the session.
func (h *Header) Ref() Ref { return Ref{ID: h.ID(), User: h.User, Log: h.Log} }

// Check returns a write whose condition holds while the session is still the one
// that was found.
func (r Ref) Check() table.Write {
	return table.Check(keys.SessionKey(r.ID), table.Equal(table.Path{HeaderLog}, r.Log))
}

// FindAny returns a session of any owner; fault.NotFound if it does not exist.
func (s *Store) FindAny(ctx context.Context, id string) (Ref, error) {
	h, err := s.AnyHeader(ctx, id)
	if err != nil {
		return Ref{}, err
	}
	return h.Ref(), nil
}

// Shows reports whether a write changes what readers of the session see: its log, its
// queue, its tasks, its artifacts, and feedback. Other items alone show nothing.
func (r Ref) Shows(w table.Write) bool {
	if w.Key.PK != keys.LogPK(r.Log) {
		return strings.HasPrefix(w.Key.PK, keys.PrefixFeedback)
	}
	return w.Key.SK == keys.SkQueue || slices.ContainsFunc(
		[]string{keys.PrefixEntry, keys.PrefixSegment, keys.PrefixTask, keys.PrefixArtifact, keys.PrefixFeedback},
		func(prefix string) bool { return strings.HasPrefix(w.Key.SK, prefix) })
}

// HeaderKey returns the key of a session, for callers that read several items at
// once.
func HeaderKey(id string) table.Key { return keys.SessionKey(id) }

// RefOf decodes the item under a HeaderKey.
func RefOf(item table.Item) (Ref, error) {
	var h Header
	if err := table.Decode(item, &h); err != nil || h.PK == "" {
		return Ref{}, err
	}
	return h.Ref(), nil
}

// Listed decodes the item under a HeaderKey as a list shows it; ok is false if it
// does not match the list's filters.
func (s *Store) Listed(ctx context.Context, item table.Item, q session.ListQuery) (out session.Session, ok bool, err error) {
	var h Header
	if err := table.Decode(item, &h); err != nil {
		return out, false, err
	}
	if !q.Matches(h.Agent, h.Status, h.Name) {
		return out, false, nil
	}
	out, err = s.listed(ctx, &h, q.Exact)
	return out, err == nil, err
}
