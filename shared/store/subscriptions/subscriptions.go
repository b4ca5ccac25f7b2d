// Package subscriptions stores which connections watch which sessions.
package subscriptions

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

var (
	_ watch.Subscriptions = (*Store)(nil)
	_ watch.Audience      = (*Store)(nil)
	_ lifecycle.Dependent = (*Store)(nil)
	_ eventlog.Watching   = (*Store)(nil)
)

// Store stores subscriptions. It is safe for concurrent use.
type Store struct {
	lifecycle.Nothing
	records.Base
	sessions *sessions.Store
}

// New returns the store in the table of the watched sessions.
func New(of *sessions.Store) *Store { return &Store{Base: of.Base, sessions: of} }

// SweepLog implements lifecycle.Dependent: it removes the watchers of a log.
func (s *Store) SweepLog(ctx context.Context, log string) error {
	return s.DB.DeleteFound(ctx, records.KeysOnly(records.Partition(watchersPK(log))))
}

// watcherLife is how long a subscription lasts: a connection's maximum of two hours
// plus an allowance for clock skew.
const watcherLife = 2*time.Hour + 10*time.Minute

// connection lists what a connection watches, so that all of it can be ended.
type connection struct {
	PK      string   `dynamodbav:"PK"`
	SK      string   `dynamodbav:"SK"`
	Logs    []string `dynamodbav:"l,stringset"`
	Expires int64    `dynamodbav:"expires"`
}

const (
	connectionLogs    = "l"
	connectionExpires = "expires"
)

// Subscribe implements watch.Subscriptions.
func (s *Store) Subscribe(ctx context.Context, sub watch.Subscription) error {
	h, err := s.sessions.Find(ctx, sub.Owner, sub.SessionID)
	if err != nil {
		return err
	}
	expires, logs := s.Now().Add(watcherLife).Unix(), table.Path{connectionLogs}
	err = s.DB.Update(ctx, connectionKey(sub.Connection),
		[]table.Change{table.AddToSet(logs, h.Log), table.Set(table.Path{connectionExpires}, expires)},
		table.Or(table.NotExists(logs), table.SizeLess(logs, watch.MaxSessions), table.Contains(logs, h.Log)))
	if errors.Is(err, table.ErrConditionFailed) {
		return records.Busy("a connection watches at most %d sessions: unsubscribe from one, or open another", watch.MaxSessions)
	}
	if err != nil {
		return err
	}
	return s.DB.Put(ctx, newWatcher(h.Log, sub, expires))
}

// Unsubscribe implements watch.Subscriptions.
func (s *Store) Unsubscribe(ctx context.Context, userID, sessionID, connectionID string) error {
	h, err := s.sessions.FindAny(ctx, sessionID)
	if err != nil {
		return err
	}
	if h.User != userID {
		var c connection
		if _, err := s.DB.Get(ctx, connectionKey(connectionID), &c); err != nil {
			return err
		}
		if !slices.Contains(c.Logs, h.Log) {
			return fault.NotYours("session")
		}
	}
	return s.unsubscribe(ctx, h.Log, connectionID)
}

// unsubscribe removes a connection's subscription from the log and from the
// connection's list.
func (s *Store) unsubscribe(ctx context.Context, log, connectionID string) error {
	if err := s.Leave(ctx, log, []string{connectionID}); err != nil {
		return err
	}
	changes := []table.Change{table.RemoveFromSet(table.Path{connectionLogs}, log)}
	return s.DB.Update(ctx, connectionKey(connectionID), changes)
}

// Disconnect implements watch.Subscriptions. The list of what the connection watched
// stays until it expires, which costs nothing: the connection never returns.
func (s *Store) Disconnect(ctx context.Context, connectionID string) error {
	var c connection
	if _, err := s.DB.Get(ctx, connectionKey(connectionID), &c); err != nil {
		return err
	}
	items := make([]table.Item, len(c.Logs))
	for i, log := range c.Logs {
		items[i] = watcherKey(log, connectionID).Item()
	}
	return s.DB.DeleteItems(ctx, items)
}

// LogOf returns the name by which a LogUpdate refers to a session.
func (s *Store) LogOf(ctx context.Context, userID, sessionID string) (string, error) {
	h, err := s.sessions.Find(ctx, userID, sessionID)
	if err != nil {
		return "", err
	}
	return h.Log, nil
}
