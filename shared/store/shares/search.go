package shares

import (
	"context"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/sessions"
)

// SearchSharedWith implements access.Shares. A search can take seconds, so the access
// to what it has found is read again at its end.
func (s *Store) SearchSharedWith(ctx context.Context, q session.ListQuery) (session.ListPage, error) {
	searched := map[string]sharingOwner{} // by session
	page, err := s.search.SearchAmong(ctx, q, func(ctx context.Context, after string, limit int) ([]sessions.Candidate, string, error) {
		found, next, err := s.sharedBy(ctx, session.ListQuery{UserID: q.UserID, After: after, Limit: limit})
		if err != nil {
			return nil, "", err
		}
		some, err := s.candidates(ctx, q.UserID, found)
		for _, c := range some {
			i := slices.IndexFunc(found, func(l sharingOwner) bool { return l.log == c.Log })
			searched[c.ID] = found[i]
		}
		return some, next, err
	})
	if err != nil {
		return session.ListPage{}, err
	}
	if page.Sessions, err = s.stillShared(ctx, q.UserID, page.Sessions, searched); err != nil {
		return session.ListPage{}, err
	}
	sortByActivity(page.Sessions)
	return page, nil
}

// stillShared returns the sessions that the user can access now.
func (s *Store) stillShared(
	ctx context.Context, user string, found []session.Session, searched map[string]sharingOwner,
) ([]session.Session, error) {
	if len(found) == 0 {
		return found, nil
	}
	owners := make([]sharingOwner, len(found))
	for i, one := range found {
		owners[i] = searched[one.ID]
	}
	now, err := s.candidates(ctx, user, owners)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(one session.Session) bool {
		return !slices.ContainsFunc(now, func(c sessions.Candidate) bool { return c.ID == one.ID })
	}), nil
}

// candidates returns the sessions that the user can access now.
func (s *Store) candidates(ctx context.Context, user string, found []sharingOwner) ([]sessions.Candidate, error) {
	stored, err := s.readShares(ctx, found)
	if err != nil {
		return nil, err
	}
	var out []sessions.Candidate
	for _, l := range found {
		label, err := s.accessLabel(ctx, user, l, stored)
		if err != nil {
			return nil, err
		}
		if label == "" {
			continue
		}
		of, err := sessions.RefOf(stored[sessions.HeaderKey(l.session)])
		if err != nil {
			return nil, err
		}
		out = append(out, sessions.Candidate{ID: of.ID, Owner: of.User, Log: of.Log, Access: label, Position: l.position})
	}
	return out, nil
}
