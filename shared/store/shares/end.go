package shares

import (
	"context"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Revoke implements access.Shares.
func (s *Store) Revoke(ctx context.Context, ownerID, sessionID, shareID string) error {
	h, err := s.sessions.Find(ctx, ownerID, sessionID)
	if err != nil {
		return err
	}
	if err := s.endShare(ctx, h.Log, shareID); err != nil {
		return fmt.Errorf("revoke share %s: %w", shareID, err)
	}
	return nil
}

// endShare removes a share and all rights that come from it. Its token is removed
// first, since it can only be found by the share. What an interruption leaves
// behind grants nothing, and is removed by a repeat or with the session.
func (s *Store) endShare(ctx context.Context, log, id string) error {
	k := shareKey(log, id)
	var of share
	found, err := s.DB.Get(ctx, k, &of)
	if err != nil {
		return err
	}
	if found && of.Digest != "" {
		if err := s.DB.DeleteItems(ctx, []table.Item{tokenKey(of.Digest).Item()}); err != nil {
			return err
		}
	}
	if found {
		err := records.Contended(ctx, func() error {
			return s.DB.Transact(ctx, table.Delete(k), s.subscriptions.EndSubscriptions(log, id, ""))
		})
		if err != nil {
			return err
		}
	}
	return s.clearGrants(ctx, log, id)
}

// clearGrants removes the grants of a share.
func (s *Store) clearGrants(ctx context.Context, log, id string) error {
	return s.DB.Pages(ctx, records.Prefix(sharesPK(log), prefixGrant, true), func(page []table.Item) (bool, error) {
		of := slices.DeleteFunc(page, func(item table.Item) bool { return table.Text(item, grantShare) != id })
		return true, s.deleteGrants(ctx, of)
	})
}

// deleteGrants removes grants and the entries by which their users find the
// session.
func (s *Store) deleteGrants(ctx context.Context, items []table.Item) error {
	found := make([]table.Item, len(items))
	for i, item := range items {
		var g grant
		if err := table.Decode(item, &g); err != nil {
			return fmt.Errorf("read a grant: %w", err)
		}
		found[i] = sharedWithKey(g.User, g.PK[len(prefixShares):], g.Share).Item()
	}
	if err := s.DB.DeleteItems(ctx, found); err != nil { // first: they are found by the grants
		return err
	}
	return s.DB.DeleteItems(ctx, items)
}

// LeaveSession implements access.Shares. If the user was let in by name, the share
// ends.
func (s *Store) LeaveSession(ctx context.Context, userID, sessionID string) error {
	h, err := s.sessions.FindAny(ctx, sessionID)
	if err != nil {
		return err
	}
	if h.User == userID {
		return fault.New(fault.OwnSession, "the session is yours: you can delete it, not leave it")
	}
	granted, err := s.grantsOf(ctx, h.Log, userID)
	if err != nil {
		return err
	}
	for _, g := range granted {
		if err := s.leaveShare(ctx, h.Log, userID, g.Share); err != nil {
			return fmt.Errorf("leave session %s: %w", sessionID, err)
		}
	}
	return nil
}

// leaveShare removes what a share granted to a user.
func (s *Store) leaveShare(ctx context.Context, log, user, shareID string) error {
	return records.Contended(ctx, func() error {
		var of share
		found, err := s.DB.Get(ctx, shareKey(log, shareID), &of)
		switch {
		case err != nil:
			return err
		case !found:
			return s.DB.DeleteItems(ctx, []table.Item{
				grantKey(log, user, shareID).Item(), sharedWithKey(user, log, shareID).Item(),
			})
		case of.User != "":
			return s.endShare(ctx, log, shareID)
		}
		return s.leaveLink(ctx, &of, user)
	})
}

// leaveLink frees a guest's place in a link; it returns table.ErrConditionFailed if
// the link changed.
func (s *Store) leaveLink(ctx context.Context, of *share, user string) error {
	k := grantKey(of.log(), user, of.id())
	has, err := s.DB.Get(ctx, k, &grant{})
	if err != nil || !has {
		return err
	}
	return s.DB.Transact(ctx,
		table.Delete(k, table.ItemExists()),
		table.Delete(sharedWithKey(user, of.log(), of.id())),
		s.subscriptions.EndSubscriptions(of.log(), of.id(), user),
		of.countGuests(max(0, of.Guests-1)),
	)
}

// ForgetLog implements lifecycle.Dependent: it removes the shares of a deleted
// session and all that they granted.
func (s *Store) ForgetLog(ctx context.Context, log string) error {
	err := s.DB.Pages(ctx, records.Prefix(sharesPK(log), prefixGrant, true), func(page []table.Item) (bool, error) {
		return true, s.deleteGrants(ctx, page)
	})
	if err != nil {
		return fmt.Errorf("remove the grants of log %s: %w", log, err)
	}
	err = s.DB.Pages(ctx, records.Partition(sharesPK(log)), func(page []table.Item) (bool, error) {
		var tokens []table.Item
		for _, item := range page {
			if digest := table.Text(item, shareDigest); digest != "" {
				tokens = append(tokens, tokenKey(digest).Item())
			}
		}
		if err := s.DB.DeleteItems(ctx, tokens); err != nil {
			return false, err
		}
		return true, s.DB.DeleteItems(ctx, page)
	})
	if err != nil {
		return fmt.Errorf("remove the shares of log %s: %w", log, err)
	}
	return nil
}

// EraseUser implements lifecycle.Dependent: it removes a user from sessions of
// others that the user was let into before the erasure began.
func (s *Store) EraseUser(ctx context.Context, user string, before int64, removed *erasure.Removed) error {
	return s.DB.EachItem(ctx, records.Partition(sharedWithPK(user)), func(item table.Item) error {
		var entry sharedWith
		if err := table.Decode(item, &entry); err != nil {
			return fmt.Errorf("read a session shared with a user: %w", err)
		}
		if entry.Created > before {
			return nil
		}
		if err := s.leaveShare(ctx, entry.Log, user, entry.Share); err != nil {
			return err
		}
		if err := s.DB.DeleteItems(ctx, []table.Item{table.NewKey(entry.PK, entry.SK).Item()}); err != nil {
			return err
		}
		removed.Records++
		return nil
	})
}
