package watching

import (
	"context"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/table"
)

// WatchMessages returns the messages to watchers about a change, as decided by
// watch.Messages. The kind of item is recognised by its key.
func (s *Store) WatchMessages(ctx context.Context, c records.Change) (watch.LogUpdate, error) {
	if c.New == nil { // removals have no messages
		return watch.LogUpdate{}, nil
	}
	pk, sk := table.Text(c.New, table.PK), table.Text(c.New, table.SK)
	log, ok := strings.CutPrefix(pk, keys.PrefixLog)
	if !ok {
		return watch.LogUpdate{}, nil
	}
	update := watch.LogUpdate{Log: log}
	change, err := s.watchChange(ctx, c, sk)
	if err == nil {
		update.Messages, err = watch.Messages(change)
	}
	if err != nil {
		return watch.LogUpdate{}, fmt.Errorf("messages of %s %s: %w", pk, sk, err)
	}
	return update, nil
}

// watchChange decodes a change of an item in a log's partition.
func (s *Store) watchChange(ctx context.Context, c records.Change, sk string) (watch.Change, error) {
	switch {
	case sk == keys.SkDeleted:
		return watch.Change{Deleted: c.Old == nil}, nil
	case strings.HasPrefix(sk, keys.PrefixEntry) && c.New[keys.AttrTombstone] == nil:
		rec, err := s.logs.DecodeEntry(ctx, c.New)
		switch {
		case err != nil:
			return watch.Change{}, err
		case c.Old != nil:
			return watch.Change{Completed: watched(rec)}, nil
		}
		return watch.Change{Appended: watched(rec)}, nil
	case sk == keys.SkQueue:
		return s.changedQueue(c)
	case strings.HasPrefix(sk, keys.PrefixSegment):
		growth, err := growthOf(c)
		return watch.Change{Grown: growth}, err
	}
	return watch.Change{}, nil
}

// changedQueue decodes a queue, unless only its place in the index has changed.
func (s *Store) changedQueue(c records.Change) (watch.Change, error) {
	var was, now runs.QueueItem
	if err := table.Decode(c.New, &now); err != nil {
		return watch.Change{}, err
	}
	if c.Old != nil && table.Decode(c.Old, &was) == nil && was.Version == now.Version {
		return watch.Change{}, nil
	}
	queue, err := s.runs.DecodeQueue(now)
	if err != nil {
		return watch.Change{}, err
	}
	return watch.Change{Queue: &watch.Queue{Queue: queue, At: watch.Cursor{Epoch: now.Epoch, Seq: now.Seq}}}, nil
}

// watched returns the record in the form that package watch needs.
func watched(r *eventlog.Record) *watch.Entry {
	e := &watch.Entry{
		Epoch: r.Epoch, Offset: r.Offset(), PrevOffset: r.PrevDeltas, Events: r.Events,
		Hidden: r.Hidden, Began: r.Began, Ended: r.Ended,
	}
	if r.IsRewind() {
		e.Rewind = &watch.Rewind{ToSeq: r.ToSeq, Back: r.Back}
	}
	return e
}

// growthOf decodes the deltas that a segment has gained; all of them when it was quiet
// before.
func growthOf(c records.Change) (*watch.Growth, error) {
	var was, now eventlog.Segment
	if err := table.Decode(c.Old, &was); err != nil {
		return nil, fmt.Errorf("unmarshal a segment: %w", err)
	}
	if err := table.Decode(c.New, &now); err != nil {
		return nil, fmt.Errorf("unmarshal a segment: %w", err)
	}
	if was.Quiet && !now.Quiet {
		was.Count = 0
	}
	position, _, err := eventlog.PositionOfSegment(now.SK)
	if err != nil {
		return nil, err
	}
	deltas, err := now.Decode()
	if err != nil {
		return nil, err
	}
	return &watch.Growth{
		Epoch: now.Epoch, Seq: position, ItemID: now.Item, First: now.First + was.Count,
		Deltas: deltas[min(was.Count, now.Count):now.Count],
	}, nil
}
