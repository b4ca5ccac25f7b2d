package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/watch"
)

var (
	_ watch.Subscriptions = (*Store)(nil)
	_ watch.Audience      = (*Store)(nil)
)

// watcherLife is how long a subscription lasts: a connection's two hours, and
// some time for the clocks to differ.
const watcherLife = 2*time.Hour + 10*time.Minute

// watchers is who watches a log, in one item: a connection takes 17 bytes of
// it, so 200 of them cost the fan-out one read unit, as one does. It has a
// partition of its own, so that the last message of a deleted session finds it.
type watchers struct {
	PK          string   `dynamodbav:"PK"`
	SK          string   `dynamodbav:"SK"`
	Session     string   `dynamodbav:"s"`
	Connections []string `dynamodbav:"c,stringset"`
	Expires     int64    `dynamodbav:"expires"`
}

// connection is what a connection watches, so that all of it can be ended.
type connection struct {
	PK      string   `dynamodbav:"PK"`
	SK      string   `dynamodbav:"SK"`
	Logs    []string `dynamodbav:"l,stringset"`
	Expires int64    `dynamodbav:"expires"`
}

func set(values ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: values} }

// Subscribe implements watch.Subscriptions.
func (s *Store) Subscribe(ctx context.Context, userID, sessionID, connectionID string) error {
	h, err := s.header(ctx, userID, sessionID)
	if err != nil {
		return err
	}
	expires := num(s.now().Add(watcherLife).Unix())
	err = s.update(ctx, connectionKey(connectionID), "ADD #l :l SET #expires = :expires", condition{
		expression: "attribute_not_exists(#l) OR size(#l) < :most OR contains(#l, :log)",
		names:      map[string]string{"#l": "l", "#expires": "expires"},
		values:     attributes{":l": set(h.Log), ":log": str(h.Log), ":most": num(watch.MaxSessions), ":expires": expires},
	})
	if errors.Is(err, errTaken) {
		return &fault.Error{
			Kind: fault.Busy, RetryAfter: time.Second,
			Detail: fmt.Sprintf("a connection watches at most %d sessions: unsubscribe from one, or open another", watch.MaxSessions),
		}
	}
	if err != nil {
		return err
	}
	return s.update(ctx, watchersKey(h.Log), "ADD #c :c SET #s = :s, #expires = :expires", condition{
		names:  map[string]string{"#c": "c", "#s": "s", "#expires": "expires"},
		values: attributes{":c": set(connectionID), ":s": str(sessionID), ":expires": expires},
	})
}

// Unsubscribe implements watch.Subscriptions.
func (s *Store) Unsubscribe(ctx context.Context, userID, sessionID, connectionID string) error {
	h, err := s.header(ctx, userID, sessionID)
	if err != nil {
		return err
	}
	if err := s.Leave(ctx, h.Log, []string{connectionID}); err != nil {
		return err
	}
	return s.update(ctx, connectionKey(connectionID), "DELETE #l :l", condition{
		names: map[string]string{"#l": "l"}, values: attributes{":l": set(h.Log)},
	})
}

// Disconnect implements watch.Subscriptions.
func (s *Store) Disconnect(ctx context.Context, connectionID string) error {
	var c connection
	found, err := s.get(ctx, connectionKey(connectionID), &c)
	if err != nil || !found {
		return err
	}
	for _, log := range c.Logs {
		if err := s.Leave(ctx, log, []string{connectionID}); err != nil {
			return err
		}
	}
	return s.deleteItems(ctx, []attributes{connectionKey(connectionID).attributes()})
}

// Watchers implements watch.Audience.
func (s *Store) Watchers(ctx context.Context, log string) (string, []string, error) {
	var w watchers
	found, err := s.get(ctx, watchersKey(log), &w)
	if err != nil || !found || w.Expires <= s.now().Unix() {
		return "", nil, err
	}
	return w.Session, w.Connections, nil
}

// leaveAtOnce is how many members one update takes out of a set.
const leaveAtOnce = 100

// Leave implements watch.Audience.
func (s *Store) Leave(ctx context.Context, log string, connections []string) error {
	for part := range slices.Chunk(connections, leaveAtOnce) {
		err := s.update(ctx, watchersKey(log), "DELETE #c :c", condition{
			expression: "attribute_exists(PK)",
			names:      map[string]string{"#c": "c"}, values: attributes{":c": set(part...)},
		})
		if err != nil && !errors.Is(err, errTaken) {
			return err
		}
	}
	return nil
}

// LogOf is the name under which News tells of a session.
func (s *Store) LogOf(ctx context.Context, userID, sessionID string) (string, error) {
	h, err := s.header(ctx, userID, sessionID)
	if err != nil {
		return "", err
	}
	return h.Log, nil
}
