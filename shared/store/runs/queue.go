package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// QueueItem is the item of a session's queue. It is in the index, by the time of its
// latest change, while starts wait. An empty queue keeps its item, so that versions
// only grow.
type QueueItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	User    string `dynamodbav:"u"`
	Session string `dynamodbav:"s"`
	Version int64  `dynamodbav:"v"`
	Body    []byte `dynamodbav:"b"`            // encoded queueBody
	Epoch   int64  `dynamodbav:"ep,omitempty"` // of the session before the change
	Seq     int64  `dynamodbav:"sq,omitempty"` // the last seq of its log before the change
	GPK     string `dynamodbav:"GPK,omitempty"`
	GSK     string `dynamodbav:"GSK,omitempty"`
	// StartsNext says that this change lets the first start begin; the attribution
	// is set along with it.
	StartsNext bool `dynamodbav:"nq,omitempty"`
	eventlog.Attribution
}

// queueBody is the content of a queue.
type queueBody struct {
	Starts  []queuedStart `json:"q,omitempty"`
	Removed []run.Removed `json:"r,omitempty"`
}

// queuedStart is run.Queued in its stored form.
type queuedStart struct {
	ID       string        `json:"id"`
	Agent    string        `json:"a"`
	Input    []queuedEvent `json:"e"`
	OnFailed run.OnFailed  `json:"f"`
	Chain    []string      `json:"c,omitempty"`
	Time     int64         `json:"t"`
}

// queuedEvent is an event that is not in the log yet. ID is its caller's choice, ""
// for none; the event itself is stored with a placeholder.
type queuedEvent struct {
	ID    string          `json:"i,omitempty"`
	Event json.RawMessage `json:"e"`
}

// queueShards spreads the queues over index partitions, each of which accepts 1,000
// write units a second.
const queueShards = 4

func queueShard(n uint32) string { return fmt.Sprintf("QUEUE#%d", n) }

func queueIndexPK(log string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(log)) // never fails
	return queueShard(h.Sum32() % queueShards)
}

// queue reads a session's queue. It costs nothing for a session that has never had a
// queued start. It returns table.ErrConditionFailed if the queue has changed since the
// header was read, and table.ErrUnreadable if it cannot be read.
func (s *reader) queue(ctx context.Context, h *sessions.Header) (run.Queue, error) {
	if h.QueueVersion == 0 {
		return run.Queue{}, nil
	}
	var item QueueItem
	found, err := s.DB.Get(ctx, keys.QueueKey(h.Log), &item)
	switch {
	case err != nil:
		return run.Queue{}, fmt.Errorf("read the queue of session %s: %w", h.ID(), err)
	case !found:
		lost := fmt.Errorf("the queue of session %s is missing: %w", h.ID(), table.ErrUnreadable)
		return run.Queue{}, s.sessions.NotFoundIfDeleted(ctx, h, lost)
	case item.Version < h.QueueVersion:
		return run.Queue{}, fmt.Errorf("the queue of session %s is older than its header: %w", h.ID(), table.ErrUnreadable)
	case item.Version > h.QueueVersion:
		return run.Queue{}, table.ErrConditionFailed
	}
	return s.DecodeQueue(item)
}

// ReadableQueue is queue for operations that do without the starts of a queue that
// cannot be read: for them it is empty.
func (s *reader) ReadableQueue(ctx context.Context, h *sessions.Header) (run.Queue, error) {
	q, err := s.queue(ctx, h)
	if errors.Is(err, table.ErrUnreadable) {
		s.LeftOut(ctx, keys.QueueKey(h.Log), err)
		return run.Queue{}, nil
	}
	return q, err
}

// neededQueue is queue for operations that need its starts: it returns fault.Conflict
// for a queue that cannot be read, unless no start waits.
func (s *reader) neededQueue(ctx context.Context, h *sessions.Header) (run.Queue, error) {
	q, err := s.queue(ctx, h)
	if !errors.Is(err, table.ErrUnreadable) {
		return q, err
	}
	s.LeftOut(ctx, keys.QueueKey(h.Log), err)
	if h.Queued == 0 {
		return run.Queue{Version: h.QueueVersion}, nil
	}
	return run.Queue{}, fault.New(fault.SessionUnreadable, "the session's queued inputs cannot be read")
}

// DecodeQueue decodes a session's queue.
func (s *reader) DecodeQueue(item QueueItem) (run.Queue, error) {
	var body queueBody
	if err := s.content.Decode(item.Body, &body); err != nil {
		return run.Queue{}, fmt.Errorf("queue of session %s: %w", item.Session, err)
	}
	q := run.Queue{Version: item.Version, Removed: body.Removed}
	for _, stored := range body.Starts {
		one := run.Queued{
			RunID: stored.ID, Agent: stored.Agent, OnFailed: stored.OnFailed, Chain: stored.Chain, Time: stored.Time,
		}
		for _, in := range stored.Input {
			e, err := session.ParseEvent(in.Event, "")
			if err != nil {
				return run.Queue{}, fmt.Errorf("queued input of run %s: %w: %w", stored.ID, table.ErrUnreadable, err)
			}
			e.ID, e.InvocationID = in.ID, stored.ID
			one.Input = append(one.Input, e)
		}
		q.Starts = append(q.Starts, one)
	}
	return q, nil
}

// queueChange is the change of a session's queue. The caller writes both parts in one
// transaction, on condition that the header's version of the queue is as it was read.
type queueChange struct {
	s    *settler
	h    *sessions.Header
	head eventlog.Head
	now  run.Queue // after the change
	// startsNext says that the change lets the first start begin.
	startsNext bool
}

func (s *settler) changeQueue(h *sessions.Header, head eventlog.Head, now run.Queue) *queueChange {
	return &queueChange{s: s, h: h, head: head, now: now}
}

// put returns the write of the queue.
func (c *queueChange) put() (table.Write, error) {
	k := keys.QueueKey(c.h.Log)
	item := QueueItem{
		PK: k.PK, SK: k.SK, User: c.h.User, Session: c.h.ID(), Version: c.now.Version, Epoch: c.h.Epoch, Seq: c.head.Last(),
	}
	if len(c.now.Starts) > 0 {
		item.GPK, item.GSK = queueIndexPK(c.h.Log), keys.ActivitySK(c.s.Millis(), c.h.Log)
	}
	if c.startsNext {
		item.StartsNext, item.Attribution = true, c.h.Attribution()
	}
	body := queueBody{Removed: c.now.Removed}
	for _, one := range c.now.Starts {
		stored := queuedStart{ID: one.RunID, Agent: one.Agent, OnFailed: one.OnFailed, Chain: one.Chain, Time: one.Time}
		for _, e := range one.Input {
			id := e.ID
			e.ID = "queued"
			stored.Input = append(stored.Input, queuedEvent{ID: id, Event: e.Own()})
		}
		body.Starts = append(body.Starts, stored)
	}
	var err error
	if item.Body, err = c.s.content.Encode(body); err != nil {
		return table.Write{}, fmt.Errorf("encode the queue of session %s: %w", c.h.ID(), err)
	}
	if c.now.Version == 1 {
		return table.Put(item, table.ItemNotExists()), nil
	}
	return table.Put(item, table.Equal(table.Path{attrQueueVersion}, c.now.Version-1)), nil
}

const attrQueueVersion = "v" // of queueItem.Version

// header returns the changes of the session's header.
func (c *queueChange) header() []table.Change {
	changes := []table.Change{table.Set(table.Path{sessions.HeaderQueueVersion}, c.now.Version)}
	if n := len(c.now.Starts); n > 0 {
		return append(changes, table.Set(table.Path{sessions.HeaderQueued}, int64(n)))
	}
	return append(changes, table.Remove(table.Path{sessions.HeaderQueued}))
}

// unchanged is the condition that the session and its queue are as they were read.
func (c *queueChange) unchanged() []table.Condition {
	return []table.Condition{c.h.SameLog(), records.Unchanged(sessions.HeaderQueueVersion, c.h.QueueVersion)}
}

// write changes the queue alone. It returns table.ErrConditionFailed if the session
// is not as it was read.
func (c *queueChange) write(ctx context.Context, changes []table.Change, same ...table.Condition) error {
	put, err := c.put()
	if err != nil {
		return err
	}
	return c.s.DB.Transact(ctx, put,
		table.Update(keys.SessionKey(c.h.ID()), append(changes, c.header()...), append(same, c.unchanged()...)...))
}

// attrStartsNext is the attribute of runMarks.StartsNext and queueItem.StartsNext.
const attrStartsNext = "nq"

// StartsQueued reports whether a change lets the first run of a session's queue begin,
// and returns the session and its owner. The caller then calls StartQueued.
func StartsQueued(c records.Change) (userID, sessionID string, starts bool) {
	if c.New[attrStartsNext] == nil {
		return "", "", false
	}
	var by eventlog.Attribution
	if err := table.Decode(c.New, &by); err != nil || by.User == "" || by.Session == "" {
		return "", "", false // it is left to SweepQueues
	}
	return by.User, by.Session, true
}
