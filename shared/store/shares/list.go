package shares

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// sharingOwner is a session that a user was let into, by one or several shares.
type sharingOwner struct {
	session, log string
	shares       []table.Key
	position     string // of the last of them
}

// SharedWith implements access.Shares. The user's grants list candidates; each
// session and share decides whether it still applies.
func (s *Store) SharedWith(ctx context.Context, q session.ListQuery) (session.ListPage, error) {
	found, next, err := s.sharedBy(ctx, q)
	if err != nil {
		return session.ListPage{}, fmt.Errorf("list the sessions shared with a user: %w", err)
	}
	stored, err := s.readShares(ctx, found)
	if err != nil {
		return session.ListPage{}, err
	}
	page := session.ListPage{Next: next, Exact: q.Exact}
	if page.Sessions, err = s.readSharingOwner(ctx, q, found, stored); err != nil {
		return session.ListPage{}, err
	}
	sortByActivity(page.Sessions)
	return page, nil
}

func sortByActivity(page []session.Session) {
	slices.SortFunc(page, func(a, b session.Session) int { return cmp.Compare(b.UpdatedTime, a.UpdatedTime) })
}

// readShares reads the sessions that a user was let into, and the shares.
func (s *Store) readShares(ctx context.Context, found []sharingOwner) (map[table.Key]table.Item, error) {
	var keys []table.Key
	for _, l := range found {
		keys = append(append(keys, sessions.HeaderKey(l.session)), l.shares...)
	}
	return s.DB.BatchGetByKey(ctx, keys, true)
}

// SharingOwners implements access.Grants. About twenty of the sessions that a user
// was let into take one read unit.
func (s *Store) SharingOwners(ctx context.Context, userID string) ([]string, error) {
	var owners []string
	err := s.DB.Pages(ctx, records.Partition(sharedWithPK(userID)), func(page []table.Item) (bool, error) {
		for _, item := range page {
			if o := table.Text(item, sharedWithOwner); !slices.Contains(owners, o) {
				owners = append(owners, o)
			}
			if len(owners) == access.MaxSharingOwners {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list who shares sessions with a user: %w", err)
	}
	return owners, nil
}

// sharedBy reads a page of a user's grants, grouped by session; next is where to
// continue, "" at the end.
func (s *Store) sharedBy(ctx context.Context, q session.ListQuery) (found []sharingOwner, next string, err error) {
	in := records.Partition(sharedWithPK(q.UserID))
	if q.After != "" {
		in.After = table.Position(table.NewKey(in.Partition, q.After).Item())
	}
	last := ""
	err = s.DB.Pages(ctx, in, func(page []table.Item) (bool, error) {
		for _, e := range records.DecodeItems[sharedWith](ctx, s.Base, page) {
			if n := len(found); n == 0 || found[n-1].log != e.Log {
				if n == q.Limit {
					next = last
					return false, nil
				}
				found = append(found, sharingOwner{session: e.Session, log: e.Log})
			}
			l := &found[len(found)-1]
			l.shares, l.position = append(l.shares, shareKey(e.Log, e.Share)), e.SK
			last = e.SK
		}
		return true, nil
	})
	return found, next, err
}

// readSharingOwner returns the sessions that the user can access now.
func (s *Store) readSharingOwner(
	ctx context.Context, q session.ListQuery, found []sharingOwner, stored map[table.Key]table.Item,
) ([]session.Session, error) {
	out := make([]session.Session, len(found))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for i, l := range found {
		label, err := s.accessLabel(ctx, q.UserID, l, stored)
		if err != nil {
			return nil, err
		}
		if label == "" {
			continue
		}
		group.Go(func() error {
			listed, ok, err := s.sessions.Listed(ctx, stored[sessions.HeaderKey(l.session)], q)
			if ok {
				out[i] = listed
				out[i].Access = label
			}
			return err
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(out, func(v session.Session) bool { return v.ID == "" }), err
}

// accessLabel returns how much the user may do with a shared session; "" if the
// user has no access any more.
func (s *Store) accessLabel(ctx context.Context, user string, l sharingOwner, stored map[table.Key]table.Item) (string, error) {
	k := sessions.HeaderKey(l.session)
	h, err := sessions.RefOf(stored[k])
	if err != nil {
		s.LeftOut(ctx, k, err)
		return "", nil
	}
	if h.Log != l.log { // deleted; another session may have its id
		return "", nil
	}
	grants := access.CallerGrants{Owner: h.User}
	for _, k := range l.shares {
		item, ok := stored[k]
		if !ok {
			continue
		}
		var of share
		if err := table.Decode(item, &of); err != nil {
			s.LeftOut(ctx, k, err)
			continue
		}
		grants.Grants = append(grants.Grants, of.grants())
	}
	permission, err := access.Decide(access.Caller{UserID: user}, grants, access.ReadSession, s.Millis())
	if errors.Is(err, fault.Of(fault.Forbidden)) {
		return "", nil
	}
	return permission.Label(), err
}
