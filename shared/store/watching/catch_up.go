package watching

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
)

// CatchUp implements watch.CatchUps. It has the item in progress announced, and reads the log from the watcher's position, or
// from an earlier item that may have grown since.
func (s *Store) CatchUp(ctx context.Context, userID, sessionID string, from watch.From) ([]watch.Message, error) {
	return records.SettledValue(ctx, func() ([]watch.Message, error) {
		h, head, _, err := s.runs.ReadSettled(ctx, userID, sessionID)
		if err == nil {
			err = s.logs.Wake(ctx, h.Log, head)
		}
		if err != nil {
			return nil, s.sessions.NotFoundIfDeleted(ctx, h, err)
		}
		out, err := (&catchUp{s: s, h: h, head: head}).read(ctx, from)
		if err != nil {
			return nil, fmt.Errorf("read the updates of session %s: %w", sessionID, s.sessions.NotFoundIfDeleted(ctx, h, err))
		}
		return out, nil
	})
}

// catchUp reads the messages that one watcher has missed.
type catchUp struct {
	s    *Store
	h    *sessions.Header
	head eventlog.Head
	// streamedItem is the position of a streamed item at the watcher's cursor; 0 for none.
	streamedItem int64
}

func (f *catchUp) read(ctx context.Context, from watch.From) ([]watch.Message, error) {
	start, err := f.start(ctx, from)
	if err != nil {
		return nil, err
	}
	f.streamedItem = start.Streamed
	stand := watch.Cursor{Epoch: f.h.Epoch, Seq: start.After}
	if from.Cursor != nil {
		stand = *from.Cursor
	}
	if start.Reason != "" {
		return []watch.Message{f.log().Reload(stand, start.Reason)}, nil
	}
	page, err := f.s.sessions.EventsOf(ctx, f.h, session.EventQuery{
		View: session.Effective, Limit: watch.MaxBehind + 1, After: start.After,
	})
	if err != nil {
		return nil, err
	}
	if page.Next != nil {
		return []watch.Message{f.log().Reload(stand, watch.ReasonBehind)}, nil
	}
	begin := stand
	out := make([]watch.Message, 0, len(page.Events)+1)
	// Events appended since the head was read reach the watcher through its
	// subscription.
	events := watch.Unknown(f.h.Epoch, upTo(page.Events, f.head.Last()), from.Cursor)
	if events, err = f.withDistantItem(ctx, events, start.Distant); err != nil {
		return nil, err
	}
	for _, e := range events {
		messages, err := f.messagesFor(ctx, e, stand, from)
		if err != nil {
			return nil, err
		}
		if n := len(messages); n > 0 {
			stand = messages[n-1].Cursor
		}
		out = append(out, messages...)
	}
	if len(out) >= watch.MaxCatchUp { // mostly parts of an item in progress
		return []watch.Message{f.log().Reload(begin, watch.ReasonBehind)}, nil
	}
	status, err := f.status(ctx, stand)
	if err != nil {
		return nil, err
	}
	queue, err := f.queue(ctx, stand)
	return append(append(out, queue...), status), err
}

// withDistantItem prepends the item with a seq to the events if it is still
// shown; 0 for none.
func (f *catchUp) withDistantItem(ctx context.Context, events []session.Event, seq int64) ([]session.Event, error) {
	if seq == 0 {
		return events, nil
	}
	page, err := f.s.sessions.EventsOf(ctx, f.h, session.EventQuery{View: session.Effective, Limit: 1, After: seq - 1})
	if err != nil || len(page.Events) == 0 || page.Events[0].Seq != seq {
		return events, err
	}
	return append(page.Events[:1:1], events...), nil
}

// messagesFor returns the messages that bring an event to a watcher at prev. It reads
// the deltas of an item in progress that is too large for one message.
func (f *catchUp) messagesFor(ctx context.Context, e session.Event, prev watch.Cursor, from watch.From) ([]watch.Message, error) {
	m := f.log().Snapshot(e, prev, f.streamedItem == e.Seq)
	if !m.MustSplit() {
		return []watch.Message{m}, nil
	}
	deltas, err := f.s.logs.DeltasOf(ctx, f.h.Log, e)
	if err != nil {
		return nil, err
	}
	return watch.Split(m, deltas, from.Cursor)
}

// log returns the session's log as it was read.
func (f *catchUp) log() watch.Log {
	return watch.Log{
		SessionID: f.h.ID(), Epoch: f.h.Epoch, Head: f.head.Last(), Offset: f.head.Offset, Base: f.h.Base(),
	}
}

// start returns the position from which the watcher is brought up to date.
func (f *catchUp) start(ctx context.Context, from watch.From) (watch.Start, error) {
	log := f.log()
	switch {
	case from.Cursor != nil:
		return log.AtCursor(*from.Cursor, func(seq int64) (watch.SeenEntry, error) {
			rec, err := f.s.logs.EntryCovering(ctx, f.h.Log, seq)
			if err != nil {
				return watch.SeenEntry{}, err
			}
			return watch.SeenEntry{
				InProgress: rec.InProgress(), Streamed: rec.Streamed, Offset: rec.Offset(), Open: rec.Open,
			}, nil
		})
	case from.LastItemID != "":
		seq, err := f.seqOf(ctx, from.LastItemID)
		return log.AtItem(seq), err
	}
	newest, err := f.s.sessions.EventsOf(ctx, f.h, session.EventQuery{View: session.Effective, Descending: true, Limit: 1})
	if err != nil || len(newest.Events) == 0 {
		return log.After(log.Head), err
	}
	return log.AtItem(newest.Events[0].Seq), nil
}

// seqOf returns the seq of an item that the session shows, by its id; 0 if there
// is none.
func (f *catchUp) seqOf(ctx context.Context, id string) (int64, error) {
	if seq, ok := session.PositionOf(id); ok {
		page, err := f.s.sessions.EventsOf(ctx, f.h, session.EventQuery{View: session.Effective, Limit: 1, After: seq - 1})
		if err != nil || (len(page.Events) > 0 && page.Events[0].ID == id) {
			return seq, err
		}
	}
	var bound eventlog.LowerBound
	found, err := f.s.DB.Get(ctx, keys.ChosenKey(f.h.Log, id), &bound)
	if invocation, _, ok := session.NamedInvocation(id); err == nil && !found && ok {
		found, err = f.s.DB.Get(ctx, keys.InvocationKey(f.h.Log, invocation), &bound)
	}
	if err != nil || !found {
		return 0, err
	}
	after := bound.Position - 1
	for {
		page, err := f.s.sessions.EventsOf(ctx, f.h, session.EventQuery{
			View: session.Effective, Limit: session.DefaultPage, After: after,
		})
		if err != nil {
			return 0, err
		}
		for _, e := range page.Events {
			if e.ID == id {
				return e.Seq, nil
			}
		}
		if page.Next == nil {
			return 0, nil
		}
		after = page.Next.Seq
	}
}

// queue returns the message about the queue as of the status that was read; none for a
// session that has never had one.
func (f *catchUp) queue(ctx context.Context, stand watch.Cursor) ([]watch.Message, error) {
	q, err := f.s.runs.ReadableQueue(ctx, f.h)
	if err != nil || q.Version == 0 {
		return nil, err
	}
	m := watch.QueueOf(q, stand)
	m.SessionID = f.h.ID()
	return []watch.Message{m}, nil
}

// status returns the last message: the session's status, with all of the log up to
// the head before it. It reads the header again. One read before the entries could
// carry a status that a run among them has ended, after that end, where no later
// message corrects it.
func (f *catchUp) status(ctx context.Context, prev watch.Cursor) (watch.Message, error) {
	now, err := f.s.sessions.Header(ctx, f.h.User, f.h.ID())
	if err != nil {
		return watch.Message{}, err
	}
	if now.Epoch != f.h.Epoch {
		return watch.Message{}, eventlog.ErrRewound
	}
	f.h = now
	var last *run.Run
	if now.Status == session.Failed {
		if last, err = f.s.runs.PastRun(ctx, now, now.FailedRun()); err != nil {
			return watch.Message{}, err
		}
	}
	return f.log().Status(prev, now.Status, now.Run, last), nil
}
