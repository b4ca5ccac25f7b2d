// Package shares stores the users that a session is shared with, by name or by a
// link.
package shares

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/search"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Subscriptions ends the subscriptions of users who have lost access, as part of the
// transaction in which they lose it.
type Subscriptions interface {
	// EndSubscriptions returns the write that ends the subscriptions by a share or, with a
	// user, those of that user by it. After it they get no later messages except the
	// unsubscribed notice.
	EndSubscriptions(log, shareID, userID string) table.Write
	// Readmit returns the write that undoes EndSubscriptions.
	Readmit(log, shareID, userID string) table.Write
}

// Store stores shares. It is safe for concurrent use.
type Store struct {
	lifecycle.Nothing
	records.Base
	sessions      *sessions.Store
	search        *search.Store
	subscriptions Subscriptions
}

var (
	_ access.Grants       = (*Store)(nil)
	_ access.Shares       = (*Store)(nil)
	_ lifecycle.Dependent = (*Store)(nil)
)

// New returns the store in the table of the shared sessions, which finder searches; evictor
// ends the subscriptions of users who lose access.
func New(of *sessions.Store, finder *search.Store, evictor Subscriptions) *Store {
	return &Store{Base: of.Base, sessions: of, search: finder, subscriptions: evictor}
}

// share is a share of a session, stored by its log: the id of a deleted session can
// be reused at once, a log never is. Rights come from this item: once it is gone,
// the items that refer to it grant nothing.
type share struct {
	PK      string       `dynamodbav:"PK"`
	SK      string       `dynamodbav:"SK"`
	Session string       `dynamodbav:"s"`
	Owner   string       `dynamodbav:"o"`
	User    string       `dynamodbav:"g,omitempty"` // the user it lets in by name
	Right   access.Right `dynamodbav:"r"`
	Digest  string       `dynamodbav:"d,omitempty"` // of the link's token
	Guests  int64        `dynamodbav:"n,omitempty"` // how many users have accepted the link
	Created int64        `dynamodbav:"ct"`
	Until   int64        `dynamodbav:"x,omitempty"` // epoch milliseconds
	Expires int64        `dynamodbav:"expires,omitempty"`
}

// sharing counts the changes of a session's shares, so that concurrent changes
// cannot exceed the limit.
type sharing struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Version int64  `dynamodbav:"v"`
}

const sharingVersion = "v"

// tokenItem is the share that a link's token belongs to.
type tokenItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Log     string `dynamodbav:"l"`
	Share   string `dynamodbav:"sh"`
	Expires int64  `dynamodbav:"expires,omitempty"`
}

const (
	shareDigest = "d"
	shareGuests = "n"
)

func (s *share) log() string { return s.PK[len(prefixShares):] }
func (s *share) id() string  { return s.SK[len(prefixShare):] }

func (s *share) open(now int64) bool { return s.Until == 0 || now < s.Until }

// life is the share's duration in milliseconds; 0 is unlimited.
func (s *share) life() int64 {
	if s.Until == 0 {
		return 0
	}
	return s.Until - s.Created
}

func (s *share) until() *int64 {
	if s.Until == 0 {
		return nil
	}
	return &s.Until
}

func (s *share) shown() access.SharedWith {
	out := access.SharedWith{
		ID: s.id(), SessionID: s.Session, Kind: access.ByLink, Access: s.Right, CreatedTime: s.Created,
		ExpiresTime: s.until(),
	}
	if s.User != "" {
		out.Kind, out.UserID = access.ByName, &s.User
	} else {
		out.AcceptedCount = &s.Guests
	}
	return out
}

// digestOf returns the digest of a token, which is stored instead of the secret.
func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Share implements access.Shares.
func (s *Store) Share(ctx context.Context, n access.NewShare) (access.SharedWith, error) {
	return records.ContendedValue(ctx, func() (access.SharedWith, error) {
		h, err := s.sessions.Find(ctx, n.OwnerID, n.SessionID)
		if err != nil {
			return access.SharedWith{}, err
		}
		made, err := s.tryShare(ctx, h, n)
		return made.shown(), err
	})
}

// tryShare creates a share; it returns table.ErrConditionFailed if the session or
// its shares changed.
func (s *Store) tryShare(ctx context.Context, h sessions.Ref, n access.NewShare) (share, error) {
	made := s.newShare(h, n)
	var version sharing
	if _, err := s.DB.Get(ctx, sharingKey(h.Log), &version); err != nil {
		return made, err
	}
	others, err := s.sharesOf(ctx, h.Log)
	if err != nil {
		return made, err
	}
	writes := []table.Write{
		h.Check(), countSharing(h.Log, version.Version), s.subscriptions.Readmit(h.Log, n.ID, ""),
	}
	if i := slices.IndexFunc(others, func(o share) bool { return o.id() == n.ID }); i >= 0 {
		if others[i].repeatedBy(made) {
			return others[i], nil
		}
		if digest := others[i].Digest; digest != "" && digest != made.Digest { // its token may never have been seen
			writes = append(writes, table.Delete(tokenKey(digest)))
		}
		others = slices.Delete(others, i, i+1)
	}
	if len(others) >= access.MaxShares {
		return made, fault.New(fault.LimitReached, "a session has at most %d shares: revoke one", access.MaxShares)
	}
	return made, s.DB.Transact(ctx, append(writes, s.shareItems(made)...)...)
}

// repeatedBy reports whether s is the share by name that made would create again, so
// that a repeat returns the first one. A link is created anew, since its token may
// have been lost with the first answer.
func (s *share) repeatedBy(made share) bool {
	return made.User != "" && s.User == made.User && s.Right == made.Right &&
		s.life() == made.life()
}

func (s *Store) newShare(h sessions.Ref, n access.NewShare) share {
	k, now := shareKey(h.Log, n.ID), s.Now()
	made := share{
		PK: k.PK, SK: k.SK, Session: h.ID, Owner: h.User, User: n.UserID, Right: n.Right, Created: now.UnixMilli(),
	}
	if n.UserID == "" {
		made.Digest = digestOf(n.Token)
	}
	if n.Life > 0 {
		made.Until = now.Add(n.Life).UnixMilli()
		made.Expires = now.Add(n.Life + time.Second).Unix()
	}
	return made
}

// countSharing counts a change of a session's shares, if the count is still the one
// that was read.
func countSharing(log string, seen int64) table.Write {
	version := table.Path{sharingVersion}
	c := table.NotExists(version)
	if seen > 0 {
		c = table.Equal(version, seen)
	}
	return table.Update(sharingKey(log), []table.Change{table.Set(version, seen+1)}, c)
}

// shareItems puts a share and what leads to it: a link's token, or the grant of the
// user who is let in by name.
func (s *Store) shareItems(made share) []table.Write {
	put := table.Put(made)
	if made.User != "" {
		return append(grantItems(&made, made.User, s.Millis()), put)
	}
	k := tokenKey(made.Digest)
	return []table.Write{put, table.Put(tokenItem{
		PK: k.PK, SK: k.SK, Log: made.log(), Share: made.id(), Expires: made.Expires,
	})}
}

// Shares implements access.Shares.
func (s *Store) Shares(ctx context.Context, ownerID, sessionID string) ([]access.SharedWith, error) {
	h, err := s.sessions.Find(ctx, ownerID, sessionID)
	if err != nil {
		return nil, err
	}
	found, err := s.sharesOf(ctx, h.Log)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.SK, b.SK))
	})
	out := make([]access.SharedWith, len(found))
	for i := range found {
		out[i] = found[i].shown()
	}
	return out, nil
}

// sharesOf reads the shares of a log that still apply.
func (s *Store) sharesOf(ctx context.Context, log string) ([]share, error) {
	var out []share
	now := s.Millis()
	err := s.DB.Pages(ctx, records.Prefix(sharesPK(log), prefixShare, true), func(page []table.Item) (bool, error) {
		shares := records.DecodeItems[share](ctx, s.Base, page)
		out = append(out, slices.DeleteFunc(shares, func(sh share) bool { return !sh.open(now) })...)
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the shares of log %s: %w", log, err)
	}
	return out, nil
}
