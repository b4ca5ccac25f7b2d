package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/watch"
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
	prefixSeat = "w"
	revoked    = string(watch.ReasonRevoked)
)

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
	if err := attributevalue.UnmarshalMap(item.Value, &rest); err != nil {
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
func seatOf(s watch.Seat) types.AttributeValue {
	switch {
	case s.Revoked:
		return str(revoked)
	case s.Guest():
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{
			num(s.Expires), str(s.Grant.Share), num(s.Grant.Until), str(s.Grant.UserID),
		}}
	default:
		return num(s.Expires)
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
		for i, into := range []any{&s.Expires, &s.Grant.Share, &s.Grant.Until, &s.Grant.UserID} {
			if err := attributevalue.Unmarshal(v.Value[i], into); err != nil {
				return err
			}
		}
		return nil
	}
	return errSeat
}

// takeSeat is the update by which a connection takes a seat; taking fills it.
const takeSeat = "SET #seat = :seat, #s = :s, #expires = :expires DELETE #c :c"

func taking(s watch.Seat, expires types.AttributeValue) condition {
	return condition{
		names: map[string]string{"#seat": prefixSeat + s.Connection, "#s": "s", "#expires": "expires", "#c": "c"},
		values: attributes{
			":seat": seatOf(s), ":s": str(s.SessionID), ":expires": expires, ":c": set(s.Connection),
		},
	}
}

// Watchers implements watch.Audience.
func (s *Store) Watchers(ctx context.Context, log string) (string, []watch.Seat, error) {
	var w watchers
	found, err := s.get(ctx, watchersKey(log), &w)
	if err != nil || !found || w.expires <= s.now().Unix() {
		return "", nil, err
	}
	seats := make([]watch.Seat, 0, len(w.seats)+len(w.old))
	for connection, value := range w.seats {
		seat := watch.Seat{SessionID: w.session, Connection: connection}
		if err := readSeat(value, &seat); err != nil {
			s.log.ErrorContext(ctx, "a watcher who cannot be read is told nothing", "log", log, "connection", connection, "error", err)
			continue
		}
		seats = append(seats, seat)
	}
	for _, connection := range w.old {
		seats = append(seats, watch.Seat{SessionID: w.session, Connection: connection})
	}
	return w.session, seats, nil
}

// seatsAtOnce is how many seats one update takes away: each has a place in an
// expression, which DynamoDB limits to 4 KB.
const seatsAtOnce = 100

// Leave implements watch.Audience.
func (s *Store) Leave(ctx context.Context, log string, connections []string) error {
	for part := range slices.Chunk(connections, seatsAtOnce) {
		c := condition{
			expression: "attribute_exists(PK)",
			names:      map[string]string{"#c": "c"}, values: attributes{":c": set(part...)},
		}
		expression := "DELETE #c :c REMOVE "
		for i, connection := range part {
			name := "#w" + strconv.Itoa(i)
			c.names[name] = prefixSeat + connection
			if i > 0 {
				expression += ", "
			}
			expression += name
		}
		if err := s.update(ctx, watchersKey(log), expression, c); err != nil && !errors.Is(err, errTaken) {
			return err
		}
	}
	return nil
}

// Clear implements watch.Audience.
func (s *Store) Clear(ctx context.Context, log string, seat watch.Seat) error {
	err := s.update(ctx, watchersKey(log), "REMOVE #seat", condition{
		expression: "#seat = :seat",
		names:      map[string]string{"#seat": prefixSeat + seat.Connection}, values: attributes{":seat": seatOf(seat)},
	})
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}
