package shares

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// grant lets a user in by a share. The share says how much the user may do, and
// whether it still applies.
type grant struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	User    string `dynamodbav:"u"`
	Share   string `dynamodbav:"sh"`
	Expires int64  `dynamodbav:"expires,omitempty"`
}

const (
	grantUser  = "u"
	grantShare = "sh"
)

// sharedWith is the copy of a grant in the user's partition, by which the user
// finds the session.
type sharedWith struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Owner   string `dynamodbav:"o"`
	Session string `dynamodbav:"s"`
	Log     string `dynamodbav:"l"`
	Share   string `dynamodbav:"sh"`
	Created int64  `dynamodbav:"ct"`
	Expires int64  `dynamodbav:"expires,omitempty"`
}

const sharedWithOwner = "o"

// grantItems puts a grant of a share and the user's copy.
func grantItems(of *share, user string, now int64) []table.Write {
	granted, entered := grantKey(of.log(), user, of.id()), sharedWithKey(user, of.log(), of.id())
	return []table.Write{
		table.Put(grant{PK: granted.PK, SK: granted.SK, User: user, Share: of.id(), Expires: of.Expires}),
		table.Put(sharedWith{
			PK: entered.PK, SK: entered.SK, Owner: of.Owner, Session: of.Session, Log: of.log(), Share: of.id(),
			Created: now, Expires: of.Expires,
		}),
	}
}

// CallerGrants implements access.Grants. It takes a read unit for the session, one
// for the user's grants and one for each of their shares.
func (s *Store) CallerGrants(ctx context.Context, userID, sessionID string) (access.CallerGrants, error) {
	h, err := s.sessions.FindAny(ctx, sessionID)
	if err != nil {
		return access.CallerGrants{}, err
	}
	grants := access.CallerGrants{Owner: h.User, Log: h.Log}
	if h.User == userID {
		return grants, nil
	}
	granted, err := s.grantsOf(ctx, h.Log, userID)
	if err != nil {
		return access.CallerGrants{}, err
	}
	for _, g := range granted {
		var of share
		found, err := s.DB.Get(ctx, shareKey(h.Log, g.Share), &of)
		if err != nil {
			return access.CallerGrants{}, err
		}
		if found {
			grants.Grants = append(grants.Grants, of.grants())
		}
	}
	return grants, nil
}

func (s *share) grants() access.Grant {
	return access.Grant{Share: s.id(), Right: s.Right, Until: s.Until}
}

// IsShared implements access.Grants.
func (s *Store) IsShared(ctx context.Context, log, shareID string) (bool, error) {
	var of share
	found, err := s.DB.Get(ctx, shareKey(log, shareID), &of)
	return found && of.open(s.Millis()), err
}

// Fence implements access.Grants.
func (s *Store) Fence(ctx context.Context, log, shareID string) {
	records.AddFence(ctx, records.Fence{
		Check:  table.Check(shareKey(log, shareID), table.ItemExists()),
		Covers: sessions.Ref{Log: log}.Shows,
		Broken: fault.New(fault.ShareEnded, "%s", fault.NotYours("session").Detail),
	})
}

// grantsOf reads a user's grants in a log. User ids may contain the separator
// between user and share, hence the comparison.
func (s *Store) grantsOf(ctx context.Context, log, user string) ([]grant, error) {
	var out []grant
	q := records.Prefix(sharesPK(log), grantPrefix(user), true)
	err := s.DB.Pages(ctx, q, func(page []table.Item) (bool, error) {
		for _, g := range records.DecodeItems[grant](ctx, s.Base, page) {
			if g.User == user {
				out = append(out, g)
			}
		}
		return true, nil
	})
	return out, err
}

// Accept implements access.Shares.
func (s *Store) Accept(ctx context.Context, userID, token string) (access.Accepted, error) {
	return records.ContendedValue(ctx, func() (access.Accepted, error) {
		of, err := s.link(ctx, digestOf(token))
		if err != nil {
			return access.Accepted{}, err
		}
		if of.Owner == userID {
			return access.Accepted{}, fault.Field(fault.Invalid, "/token", "opens a session of your own")
		}
		accepted := access.Accepted{SessionID: of.Session, Access: of.Right, ExpiresTime: of.until()}
		return accepted, s.accept(ctx, of, userID)
	})
}

// link finds the share that a token opens. An invalid token takes the same three
// reads as a valid one, wherever it fails.
func (s *Store) link(ctx context.Context, digest string) (*share, error) {
	var token tokenItem
	known, err := s.DB.Get(ctx, tokenKey(digest), &token)
	if err != nil {
		return nil, err
	}
	var of share
	exists, err := s.DB.Get(ctx, shareKey(token.Log, token.Share), &of)
	if err != nil {
		return nil, err
	}
	h, err := s.sessions.FindAny(ctx, of.Session)
	if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
		return nil, err
	}
	if !known || !exists || h.Log != token.Log || of.Digest != digest || !of.open(s.Millis()) {
		return nil, fault.Missing("Share")
	}
	return &of, nil
}

// accept grants a link's right to a user who does not have it yet, while the link
// and its session exist; it returns table.ErrConditionFailed if they changed
// concurrently.
func (s *Store) accept(ctx context.Context, of *share, user string) error {
	if has, err := s.DB.Get(ctx, grantKey(of.log(), user, of.id()), &grant{}); err != nil || has {
		return err
	}
	if of.Guests >= access.MaxGuests {
		return fault.New(fault.LimitReached, "%d users have accepted this link, and no more can", access.MaxGuests)
	}
	h := sessions.Ref{ID: of.Session, Log: of.log()}
	return s.DB.Transact(ctx, append(grantItems(of, user, s.Millis()),
		h.Check(),
		of.countGuests(of.Guests+1),
		s.subscriptions.Readmit(of.log(), of.id(), user),
	)...)
}

// countGuests returns the write that counts the users who accepted a link, if the
// link is unchanged.
func (s *share) countGuests(next int64) table.Write {
	guests := table.Path{shareGuests}
	asRead := table.Equal(guests, s.Guests)
	if s.Guests == 0 { // a new link, or all guests have left
		asRead = table.Or(table.NotExists(guests), asRead)
	}
	return table.Update(table.NewKey(s.PK, s.SK), []table.Change{table.Set(guests, next)},
		table.Equal(table.Path{shareDigest}, s.Digest), asRead)
}
