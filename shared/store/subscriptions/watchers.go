package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/table"
)

// The watchers of a log are one item with an attribute for each subscription, so that
// one update adds or removes a subscription and one read finds all of them. It has a
// separate partition, so that the last message of a deleted session still finds it.
//
//	attribute     of                 value                            bytes
//	s, expires    all                session, end of the item
//	w<id>         owner, admin       end of the token                 23
//	w<id>         guest              [token, share, its end, user]    about 90
//	w<id>         revoked guest      "revoked"                        24
//
// So 170 watchers cost the fan-out one read unit, as a single one does.
const (
	watchersSession = "s"
	watchersExpires = "expires"

	prefixSubscription = "w"
	revoked            = string(watch.ReasonRevoked)
)

// subscriptionPath is the path of a connection's subscription.
func subscriptionPath(connection string) table.Path { return table.At(prefixSubscription + connection) }

type watchers struct {
	session       string
	expires       int64
	subscriptions map[string]types.AttributeValue // by connection
}

// UnmarshalDynamoDBAttributeValue implements attributevalue.Unmarshaler.
func (w *watchers) UnmarshalDynamoDBAttributeValue(v types.AttributeValue) error {
	item, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return fmt.Errorf("watchers are no item but a %T", v)
	}
	var rest struct {
		Session string `dynamodbav:"s"`
		Expires int64  `dynamodbav:"expires"`
	}
	if err := table.Decode(item.Value, &rest); err != nil {
		return err
	}
	w.session, w.expires = rest.Session, rest.Expires
	w.subscriptions = map[string]types.AttributeValue{}
	for name, value := range item.Value {
		if connection, ok := strings.CutPrefix(name, prefixSubscription); ok {
			w.subscriptions[connection] = value
		}
	}
	return nil
}

// subscriptionOf returns a subscription as the table stores it.
func subscriptionOf(s watch.Subscription) any {
	switch {
	case s.Revoked:
		return revoked
	case s.Guest():
		return []any{s.Expires, s.Grant.Share, s.Grant.Until, s.Grant.UserID}
	default:
		return s.Expires
	}
}

var errSubscription = errors.New("not a subscription")

// readSubscription decodes a connection's subscription.
func readSubscription(v types.AttributeValue, s *watch.Subscription) (err error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		s.Expires, err = strconv.ParseInt(v.Value, 10, 64)
		return err
	case *types.AttributeValueMemberS:
		s.Revoked = true
		return nil
	case *types.AttributeValueMemberL:
		if len(v.Value) != 4 {
			return errSubscription
		}
		return readGuestSubscription(v.Value, s)
	}
	return errSubscription
}

// readGuestSubscription decodes the four values of a guest's subscription.
func readGuestSubscription(values []types.AttributeValue, s *watch.Subscription) error {
	var sub struct {
		Expires int64  `dynamodbav:"0"`
		Share   string `dynamodbav:"1"`
		Until   int64  `dynamodbav:"2"`
		User    string `dynamodbav:"3"`
	}
	if err := table.Decode(table.Item{"0": values[0], "1": values[1], "2": values[2], "3": values[3]}, &sub); err != nil {
		return err
	}
	s.Expires, s.Grant.Share, s.Grant.Until, s.Grant.UserID = sub.Expires, sub.Share, sub.Until, sub.User
	return nil
}

// subscribe returns the changes that create a connection's subscription.
func subscribe(s watch.Subscription, expires int64) []table.Change {
	return []table.Change{
		table.Set(subscriptionPath(s.Connection), subscriptionOf(s)),
		table.Set(table.At(watchersSession), s.SessionID),
		table.Set(table.At(watchersExpires), expires),
	}
}

// Watchers implements watch.Audience.
func (s *Store) Watchers(ctx context.Context, log string) (string, []watch.Subscription, error) {
	var w watchers
	found, err := s.DB.Get(ctx, watchersKey(log), &w)
	if err != nil || !found || w.expires <= s.Now().Unix() {
		return "", nil, err
	}
	subs := make([]watch.Subscription, 0, len(w.subscriptions))
	for connection, value := range w.subscriptions {
		sub := watch.Subscription{SessionID: w.session, Connection: connection}
		if err := readSubscription(value, &sub); err != nil {
			s.Log.ErrorContext(ctx, "a watcher's subscription cannot be read; it gets no messages", "log", log, "connection", connection, "error", err)
			continue
		}
		subs = append(subs, sub)
	}
	return w.session, subs, nil
}

// Watched implements eventlog.Watching. Ended subscriptions count, since their
// connections still get a notice.
func (s *Store) Watched(ctx context.Context, log string) (bool, error) {
	_, subs, err := s.Watchers(ctx, log)
	return len(subs) > 0, err
}

// removalsAtOnce is how many subscriptions one update removes: DynamoDB limits an
// update expression to 4 KB.
const removalsAtOnce = 100

// Leave implements watch.Audience.
func (s *Store) Leave(ctx context.Context, log string, connections []string) error {
	for part := range slices.Chunk(connections, removalsAtOnce) {
		changes := make([]table.Change, 0, len(part))
		for _, connection := range part {
			changes = append(changes, table.Remove(subscriptionPath(connection)))
		}
		err := s.DB.Update(ctx, watchersKey(log), changes, table.ItemExists())
		if err != nil && !errors.Is(err, table.ErrConditionFailed) {
			return err
		}
	}
	return nil
}

// Clear implements watch.Audience.
func (s *Store) Clear(ctx context.Context, log string, sub watch.Subscription) error {
	at := subscriptionPath(sub.Connection)
	err := s.DB.Update(ctx, watchersKey(log), []table.Change{table.Remove(at)}, table.Equal(at, subscriptionOf(sub)))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}
