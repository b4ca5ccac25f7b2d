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

// Who watches a log is one item, with an attribute for each seat, so that one
// update takes or leaves a seat and one read finds all of them. It has a
// partition of its own, so that the last message of a deleted session finds it.
//
//	attribute     of                 value                            bytes
//	s, expires    all                session, end of the item
//	w<id>         owner, admin       end of the token                 23
//	w<id>         guest              [token, share, its end, user]    about 90
//	w<id>         evicted guest      "revoked"                        24
//	c             of earlier times   set of connections               17 each
//
// So 170 watchers cost the fan-out one read unit, as one does.
const (
	watchersSession = "s"
	watchersExpires = "expires"
	watchersOld     = "c"

	prefixSeat = "w"
	revoked    = string(watch.ReasonRevoked)
)

// seatPath leads to the seat of a connection.
func seatPath(connection string) table.Path { return table.At(prefixSeat + connection) }

type watchers struct {
	session string
	expires int64
	seats   map[string]types.AttributeValue // by connection
	old     []string
}

// UnmarshalDynamoDBAttributeValue implements attributevalue.Unmarshaler.
func (w *watchers) UnmarshalDynamoDBAttributeValue(v types.AttributeValue) error {
	item, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return fmt.Errorf("watchers are no item but a %T", v)
	}
	var rest struct {
		Session string   `dynamodbav:"s"`
		Old     []string `dynamodbav:"c,stringset"`
		Expires int64    `dynamodbav:"expires"`
	}
	if err := table.Decode(item.Value, &rest); err != nil {
		return err
	}
	w.session, w.expires, w.old = rest.Session, rest.Expires, rest.Old
	w.seats = map[string]types.AttributeValue{}
	for name, value := range item.Value {
		if connection, ok := strings.CutPrefix(name, prefixSeat); ok {
			w.seats[connection] = value
		}
	}
	return nil
}

// seatOf is a seat as the table holds it.
func seatOf(s watch.Seat) any {
	switch {
	case s.Revoked:
		return revoked
	case s.Guest():
		return []any{s.Expires, s.Grant.Share, s.Grant.Until, s.Grant.UserID}
	default:
		return s.Expires
	}
}

var errSeat = errors.New("not a seat")

// readSeat reads what a seat says about its connection.
func readSeat(v types.AttributeValue, s *watch.Seat) (err error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		s.Expires, err = strconv.ParseInt(v.Value, 10, 64)
		return err
	case *types.AttributeValueMemberS:
		s.Revoked = true
		return nil
	case *types.AttributeValueMemberL:
		if len(v.Value) != 4 {
			return errSeat
		}
		return readGuestSeat(v.Value, s)
	}
	return errSeat
}

// readGuestSeat reads the four values of a guest's seat.
func readGuestSeat(values []types.AttributeValue, s *watch.Seat) error {
	var seat struct {
		Expires int64  `dynamodbav:"0"`
		Share   string `dynamodbav:"1"`
		Until   int64  `dynamodbav:"2"`
		User    string `dynamodbav:"3"`
	}
	if err := table.Decode(table.Item{"0": values[0], "1": values[1], "2": values[2], "3": values[3]}, &seat); err != nil {
		return err
	}
	s.Expires, s.Grant.Share, s.Grant.Until, s.Grant.UserID = seat.Expires, seat.Share, seat.Until, seat.User
	return nil
}

// takeSeat are the changes by which a connection takes a seat.
func takeSeat(s watch.Seat, expires int64) []table.Change {
	return []table.Change{
		table.Set(seatPath(s.Connection), seatOf(s)),
		table.Set(table.At(watchersSession), s.SessionID),
		table.Set(table.At(watchersExpires), expires),
		table.RemoveFromSet(table.At(watchersOld), s.Connection),
	}
}

// Watchers implements watch.Audience.
func (s *Store) Watchers(ctx context.Context, log string) (string, []watch.Seat, error) {
	var w watchers
	found, err := s.DB.Get(ctx, watchersKey(log), &w)
	if err != nil || !found || w.expires <= s.Now().Unix() {
		return "", nil, err
	}
	seats := make([]watch.Seat, 0, len(w.seats)+len(w.old))
	for connection, value := range w.seats {
		seat := watch.Seat{SessionID: w.session, Connection: connection}
		if err := readSeat(value, &seat); err != nil {
			s.Log.ErrorContext(ctx, "a watcher who cannot be read is told nothing", "log", log, "connection", connection, "error", err)
			continue
		}
		seats = append(seats, seat)
	}
	for _, connection := range w.old {
		seats = append(seats, watch.Seat{SessionID: w.session, Connection: connection})
	}
	return w.session, seats, nil
}

// seatsAtOnce is how many seats one update takes away: DynamoDB limits the size of an
// update's changes to 4 KB.
const seatsAtOnce = 100

// Leave implements watch.Audience.
func (s *Store) Leave(ctx context.Context, log string, connections []string) error {
	for part := range slices.Chunk(connections, seatsAtOnce) {
		changes := []table.Change{table.RemoveFromSet(table.At(watchersOld), part...)}
		for _, connection := range part {
			changes = append(changes, table.Remove(seatPath(connection)))
		}
		err := s.DB.Update(ctx, watchersKey(log), changes, table.ItemExists())
		if err != nil && !errors.Is(err, table.ErrConditionFailed) {
			return err
		}
	}
	return nil
}

// Clear implements watch.Audience.
func (s *Store) Clear(ctx context.Context, log string, seat watch.Seat) error {
	at := seatPath(seat.Connection)
	err := s.DB.Update(ctx, watchersKey(log), []table.Change{table.Remove(at)}, table.Equal(at, seatOf(seat)))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}
