package subscriptions

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// watcher is a subscription to a log: an item of its own, so that its price does not
// depend on the other watchers, of some 120 bytes, or 200 for a guest. The watchers of a
// log are a partition of their own, so that the last message of a deleted session still
// finds them, and one query reads 35 for a unit.
type watcher struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Session string `dynamodbav:"s"`
	Token   int64  `dynamodbav:"t"` // when the token expires
	Share   string `dynamodbav:"sh,omitempty"`
	User    string `dynamodbav:"u,omitempty"` // a guest
	Until   int64  `dynamodbav:"x,omitempty"` // when the share expires, epoch milliseconds
	Expires int64  `dynamodbav:"expires"`
}

const (
	watcherToken = "t"
	watcherShare = "sh"
	watcherUser  = "u"
)

func newWatcher(log string, s watch.Subscription, expires int64) watcher {
	k := watcherKey(log, s.Connection)
	return watcher{
		PK: k.PK, SK: k.SK, Session: s.SessionID, Token: s.Expires,
		Share: s.Grant.Share, User: s.Grant.UserID, Until: s.Grant.Until, Expires: expires,
	}
}

func (w watcher) subscription() watch.Subscription {
	return watch.Subscription{
		SessionID: w.Session, Connection: w.SK[len(prefixWatcher):], Expires: w.Token,
		Grant: watch.Grant{Share: w.Share, UserID: w.User, Until: w.Until},
	}
}

// Watchers implements watch.Audience.
func (s *Store) Watchers(ctx context.Context, log string) (session string, subs []watch.Subscription, err error) {
	now, ended := s.Now().Unix(), revocations{log: log}
	err = s.DB.Pages(ctx, records.Partition(watchersPK(log)), func(page []table.Item) (bool, error) {
		page = slices.DeleteFunc(page, ended.take)
		for _, w := range records.DecodeItems[watcher](ctx, s.Base, page) {
			if w.Expires <= now { // DynamoDB deletes it later
				continue
			}
			sub := w.subscription()
			sub.Revoked = ended.cover(sub.Grant)
			session, subs = w.Session, append(subs, sub)
		}
		return true, nil
	})
	return session, subs, err
}

// watchedAtOnce is how many watchers Watched reads at once: the first one need not be
// alive.
const watchedAtOnce = 10

// Watched implements eventlog.Watching. Ended subscriptions count, since their
// connections still get a notice.
func (s *Store) Watched(ctx context.Context, log string) (watched bool, err error) {
	q, now := records.Prefix(watchersPK(log), prefixWatcher, true), s.Now().Unix()
	q.Limit = watchedAtOnce
	err = s.DB.Pages(ctx, q, func(page []table.Item) (bool, error) {
		watched = slices.ContainsFunc(records.DecodeItems[watcher](ctx, s.Base, page), func(w watcher) bool { return w.Expires > now })
		return !watched, nil
	})
	return watched, err
}

// Leave implements watch.Audience.
func (s *Store) Leave(ctx context.Context, log string, connections []string) error {
	items := make([]table.Item, len(connections))
	for i, connection := range connections {
		items[i] = watcherKey(log, connection).Item()
	}
	return s.DB.DeleteItems(ctx, items)
}

// Clear implements watch.Audience.
func (s *Store) Clear(ctx context.Context, log string, sub watch.Subscription) error {
	share := table.NotExists(table.Path{watcherShare})
	if sub.Guest() {
		share = table.And(table.Equal(table.Path{watcherShare}, sub.Grant.Share), table.Equal(table.Path{watcherUser}, sub.Grant.UserID))
	}
	err := s.DB.Delete(ctx, watcherKey(log, sub.Connection), table.Equal(table.Path{watcherToken}, sub.Expires), share)
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}

// revocations are those of a log that have been read.
type revocations struct {
	log  string
	keys map[string]bool // sort keys
}

// take reports whether an item is a revocation, and keeps it.
func (r *revocations) take(item table.Item) bool {
	sk := table.Text(item, table.SK)
	if strings.HasPrefix(sk, prefixWatcher) {
		return false
	}
	if r.keys == nil {
		r.keys = map[string]bool{}
	}
	r.keys[sk] = true
	return true
}

// cover reports whether a grant has been revoked.
func (r *revocations) cover(g watch.Grant) bool {
	return g.Share != "" && len(r.keys) > 0 &&
		(r.keys[revocationKey(r.log, g.Share, "").SK] || r.keys[revocationKey(r.log, g.Share, g.UserID).SK])
}
