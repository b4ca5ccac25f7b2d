package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/rethread/rethread/shared/base/fault"
)

// Revoke implements access.Shares.
func (s *Store) Revoke(ctx context.Context, ownerID, sessionID, shareID string) error {
	h, err := s.header(ctx, ownerID, sessionID)
	if err != nil {
		return err
	}
	if err := s.endShare(ctx, h.Log, shareID); err != nil {
		return fmt.Errorf("revoke share %s: %w", shareID, err)
	}
	return nil
}

// endShare takes a share away, and with it all rights that come from it. Its
// token goes first: nobody would find it without the share. What is left behind
// where this is cut short counts for nothing, and goes when it is repeated or
// with the session.
func (s *Store) endShare(ctx context.Context, log, id string) error {
	k := shareKey(log, id)
	var of share
	found, err := s.get(ctx, k, &of)
	if err != nil {
		return err
	}
	if found && of.Digest != "" {
		if err := s.deleteItems(ctx, []attributes{tokenKey(of.Digest).attributes()}); err != nil {
			return err
		}
	}
	if err := s.deleteItems(ctx, []attributes{k.attributes()}); err != nil {
		return err
	}
	if err := s.Evict(ctx, log, id); err != nil {
		return err
	}
	return s.clearGrants(ctx, log, id)
}

// clearGrants removes what a share had granted.
func (s *Store) clearGrants(ctx context.Context, log, id string) error {
	q := s.prefixQuery(sharesPK(log), prefixGrant, true)
	q.FilterExpression = aws.String("#sh = :sh")
	q.ExpressionAttributeNames = map[string]string{"#sh": "sh"}
	q.ExpressionAttributeValues[":sh"] = str(id)
	return s.queryPages(ctx, q, func(page []attributes) (bool, error) { return true, s.deleteGrants(ctx, page) })
}

// deleteGrants removes grants and the users' entrances.
func (s *Store) deleteGrants(ctx context.Context, items []attributes) error {
	var grants []grant
	if err := attributevalue.UnmarshalListOfMaps(items, &grants); err != nil {
		return fmt.Errorf("unmarshal grants: %w", err)
	}
	entrances := make([]attributes, len(grants))
	for i, g := range grants {
		entrances[i] = entranceKey(g.User, g.PK[len(prefixShares):], g.Share).attributes()
	}
	if err := s.deleteItems(ctx, entrances); err != nil { // first: they are found by the grants
		return err
	}
	return s.deleteItems(ctx, items)
}

// LeaveSession implements access.Shares. Who was let in by name ends that share.
func (s *Store) LeaveSession(ctx context.Context, userID, sessionID string) error {
	h, err := s.anyHeader(ctx, sessionID)
	if err != nil {
		return err
	}
	if h.User == userID {
		return fault.New(fault.Conflict, "the session is yours: you can delete it, not leave it")
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

// leaveShare takes from a user what a share gave them.
func (s *Store) leaveShare(ctx context.Context, log, user, shareID string) error {
	for try := 0; ; try++ {
		var of share
		found, err := s.get(ctx, shareKey(log, shareID), &of)
		switch {
		case err != nil:
			return err
		case !found:
			return s.deleteItems(ctx, []attributes{
				grantKey(log, user, shareID).attributes(), entranceKey(user, log, shareID).attributes(),
			})
		case of.User != "":
			return s.endShare(ctx, log, shareID)
		}
		err = s.leaveLink(ctx, &of, user)
		if !errors.Is(err, errTaken) {
			return err
		}
		if err := afterConflict(ctx, try); err != nil {
			return err
		}
	}
}

// leaveLink makes room for another guest of a link; errTaken where it changed.
func (s *Store) leaveLink(ctx context.Context, of *share, user string) error {
	k := grantKey(of.log(), user, of.id())
	has, err := s.get(ctx, k, &grant{})
	if err != nil || !has {
		return err
	}
	err = s.transact(ctx,
		s.transactDelete(k, condition{expression: "attribute_exists(PK)"}),
		s.transactDelete(entranceKey(user, of.log(), of.id()), condition{}),
		s.transactUpdate(key{of.PK, of.SK}, "SET #n = :next", of.countGuests(max(0, of.Guests-1))),
	)
	if err != nil {
		return err
	}
	return s.EvictUser(ctx, of.log(), of.id(), user)
}

// forgetShares removes the shares of a session that is deleted, and all that
// they granted.
func (s *Store) forgetShares(ctx context.Context, log string) error {
	err := s.queryPages(ctx, s.prefixQuery(sharesPK(log), prefixGrant, true), func(page []attributes) (bool, error) {
		return true, s.deleteGrants(ctx, page)
	})
	if err != nil {
		return fmt.Errorf("remove the grants of log %s: %w", log, err)
	}
	err = s.queryPages(ctx, s.partition(sharesPK(log)), func(page []attributes) (bool, error) {
		var tokens []attributes
		for _, item := range page {
			if digest := stringOf(item["d"]); digest != "" {
				tokens = append(tokens, tokenKey(digest).attributes())
			}
		}
		if err := s.deleteItems(ctx, tokens); err != nil {
			return false, err
		}
		return true, s.deleteItems(ctx, page)
	})
	if err != nil {
		return fmt.Errorf("remove the shares of log %s: %w", log, err)
	}
	return nil
}

// eraseGrants takes a user out of the sessions of others that they were let into
// before the erasure began.
func (s *Store) eraseGrants(ctx context.Context, e *erasureItem) error {
	return s.eachItem(ctx, s.partition(entrancesPK(e.User)), func(item attributes) error {
		var entry entrance
		if err := attributevalue.UnmarshalMap(item, &entry); err != nil {
			return fmt.Errorf("unmarshal a session shared with a user: %w", err)
		}
		if entry.Created > e.Started {
			return nil
		}
		if err := s.leaveShare(ctx, entry.Log, e.User, entry.Share); err != nil {
			return err
		}
		if err := s.deleteItems(ctx, []attributes{{attrPK: str(entry.PK), attrSK: str(entry.SK)}}); err != nil {
			return err
		}
		e.Removed.Records++
		return nil
	})
}
