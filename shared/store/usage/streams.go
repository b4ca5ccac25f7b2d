package usage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// streamSlack is how much longer than its stream a lease lasts: the time to
	// begin and end a stream, and the difference between clocks.
	streamSlack = 15 * time.Second
	// streamHandover is how long the stream that lost a place to another may
	// still be open; the place cannot be taken again before.
	streamHandover = 2 * quota.StreamCheck
	// streamTries limits the attempts to take a place while other streams compete
	// for it.
	streamTries = 10
)

// The attributes of a stream's place.
const (
	streamHolder  = "h"
	streamUntil   = "u"
	streamEnded   = "e"
	streamExpires = "expires"
)

// streamItem is one of a user's places for open streams. A free place has a time
// in the past, until it expires.
type streamItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Subject string `dynamodbav:"sj"`
	Holder  string `dynamodbav:"h"`
	Taken   int64  `dynamodbav:"t"` // when it was taken; all times are epoch milliseconds
	Until   int64  `dynamodbav:"u"` // when it is free
	Ended   bool   `dynamodbav:"e"` // its stream has ended, and its reader may reconnect
	// Former is until when the stream that lost this place may be open.
	Former  int64 `dynamodbav:"f,omitempty"`
	Expires int64 `dynamodbav:"expires"`
}

// TakeStream implements quota.Streams.
func (s *Store) TakeStream(ctx context.Context, in quota.Stream) (quota.Lease, error) {
	if s.Quotas.Streams == 0 {
		return quota.Lease{}, nil
	}
	holder := s.Random().String()
	tries := 0
	return records.ContendedValue(ctx, func() (quota.Lease, error) {
		if tries++; tries > streamTries {
			return quota.Lease{}, records.Busy("too many streams are opened at once; try again")
		}
		slots, err := s.streamSlots(ctx, in.UserID)
		if err != nil {
			return quota.Lease{}, err
		}
		now := s.Now()
		from := rand.Int64N(s.Quotas.Streams) //nolint:gosec // it only spreads concurrent streams
		pick, ok := s.Quotas.PickStream(places(slots), in, now, from)
		if !ok {
			return quota.Lease{}, s.Quotas.StreamsExceeded(places(slots), now)
		}
		return s.seizeStream(ctx, pick, seenAt(slots, pick.Slot), in, holder)
	})
}

// places converts the places of a user as they were read.
func places(slots []streamItem) []quota.Place {
	out := make([]quota.Place, len(slots))
	for i, it := range slots {
		out[i] = quota.Place{
			Slot: slotNumber(it.SK), Subject: it.Subject, Taken: it.Taken, Until: it.Until, Ended: it.Ended, Former: it.Former,
		}
	}
	return out
}

// seenAt returns a place as it was read, nil if it did not exist.
func seenAt(slots []streamItem, slot int64) *streamItem {
	for i := range slots {
		if slotNumber(slots[i].SK) == slot {
			return &slots[i]
		}
	}
	return nil
}

// seizeStream takes a place; table.ErrConditionFailed if it has changed since it
// was read.
func (s *Store) seizeStream(
	ctx context.Context, p quota.Pick, was *streamItem, in quota.Stream, holder string,
) (quota.Lease, error) {
	k, now := keys.StreamKey(in.UserID, p.Slot), s.Millis()
	it := streamItem{
		PK: k.PK, SK: k.SK, Subject: in.Subject, Holder: holder, Taken: now,
		Until: now + (in.Lasting + streamSlack).Milliseconds(),
	}
	it.Expires = expiresOf(it.Until)
	lease := quota.Lease{UserID: in.UserID, Slot: p.Slot, Holder: holder}
	c := table.ItemNotExists()
	if was != nil {
		c = table.And(
			table.Equal(table.Path{streamHolder}, was.Holder), table.Equal(table.Path{streamUntil}, was.Until),
		)
		lease.Continued = was.Until > now && was.Ended
		if p.Over {
			it.Former = min(was.Until, now+streamHandover.Milliseconds())
		}
	}
	failed := s.DB.Put(ctx, it, c)
	var other streamItem
	found, err := records.Found(failed, &other)
	switch {
	case found && err == nil && other.Holder == holder:
		return lease, nil // the answer to an earlier attempt was lost
	case err == nil:
		err = failed
	}
	if err != nil {
		return quota.Lease{}, fmt.Errorf("take a place for a stream: %w", err)
	}
	return lease, nil
}

// HoldsStream implements quota.Streams. It reads with eventual consistency, for
// half a read unit.
func (s *Store) HoldsStream(ctx context.Context, l quota.Lease) (bool, error) {
	if l.Holder == "" {
		return true, nil
	}
	item, err := s.DB.GetEventually(ctx, keys.StreamKey(l.UserID, l.Slot))
	if err != nil {
		return false, fmt.Errorf("read the place of a stream: %w", err)
	}
	// A missing place was erased with all of the user's data, or is not visible
	// yet.
	return item == nil || table.Text(item, streamHolder) == l.Holder, nil
}

// RenewStream implements quota.Streams.
func (s *Store) RenewStream(ctx context.Context, l quota.Lease, lasting time.Duration) error {
	err := s.untilStream(ctx, l, s.Millis()+(lasting+streamSlack).Milliseconds(), false)
	if errors.Is(err, table.ErrConditionFailed) {
		return fault.New(fault.Superseded, "another stream has this stream's lease")
	}
	return err
}

// EndStream implements quota.Streams. A place whose reader is not expected to
// reconnect is deleted.
func (s *Store) EndStream(ctx context.Context, l quota.Lease, expected bool) error {
	if l.Holder == "" {
		return nil
	}
	var err error
	if expected {
		err = s.untilStream(ctx, l, s.Millis()+quota.StreamGrace.Milliseconds(), true)
	} else {
		err = s.DB.Delete(ctx, keys.StreamKey(l.UserID, l.Slot), heldBy(l))
	}
	return records.Ignoring(err, table.ErrConditionFailed)
}

// untilStream changes when a lease ends; table.ErrConditionFailed if another
// stream has the place.
func (s *Store) untilStream(ctx context.Context, l quota.Lease, until int64, ended bool) error {
	if l.Holder == "" {
		return nil
	}
	return s.DB.Update(ctx, keys.StreamKey(l.UserID, l.Slot), []table.Change{
		table.Set(table.Path{streamUntil}, until), table.Set(table.Path{streamEnded}, ended),
		table.Set(table.Path{streamExpires}, expiresOf(until)),
	}, heldBy(l))
}

// heldBy is the condition that the lease's holder still has the place.
func heldBy(l quota.Lease) table.Condition { return table.Equal(table.Path{streamHolder}, l.Holder) }

// expiresOf returns when the table may delete an item that is not used after a
// time: epoch seconds from epoch milliseconds, a minute later.
func expiresOf(millis int64) int64 { return millis/1000 + 60 }

func slotNumber(sk string) int64 {
	n, err := strconv.ParseInt(sk, 10, 64)
	if err != nil {
		return -1 // counts as a place, and is never free
	}
	return n
}

// streamSlots reads the places of a user's streams, strongly consistent.
func (s *Store) streamSlots(ctx context.Context, user string) ([]streamItem, error) {
	var slots []streamItem
	err := s.DB.Pages(ctx, records.Partition(keys.StreamsPK(user)), func(page []table.Item) (bool, error) {
		for _, item := range page {
			var slot streamItem
			if err := table.Decode(item, &slot); err != nil {
				return false, err
			}
			slots = append(slots, slot)
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the open streams: %w", err)
	}
	return slots, nil
}

// OpenStreams counts a user's open streams.
func (s *Store) OpenStreams(ctx context.Context, user string) (n int64, err error) {
	slots, err := s.streamSlots(ctx, user)
	for _, it := range slots {
		if it.Until > s.Millis() {
			n++
		}
	}
	return n, err
}
