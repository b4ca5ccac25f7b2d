package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// stream is an item in progress. It batches deltas, so that several take one write:
// the first is due at once, later ones when an interval has passed since the last
// flush or FlushBytes of text are pending. For watchers the interval doubles with each
// flush from a quarter of FlushEvery to all of it: the first words come quickly, and
// the many that follow take fewer writes. While nobody watches, a delta that comes
// before FlushEvery has passed waits for all of that time: nobody waits for it, and it
// would be lost no later.
type stream struct {
	start   ItemStart
	pace    Pace
	stored  Item           // nil until there is a delta
	content *content.Draft // pending deltas included

	waiting []content.Delta
	every   time.Duration    // between the last flush and the next
	bytes   int              // of pending text, as JSON
	last    time.Time        // the time of the last flush
	timer   <-chan time.Time // fires when the pending deltas are due; nil while there are none
}

func newStream(start ItemStart, pace Pace) *stream {
	return &stream{start: start, pace: pace, content: content.NewDraft(start.Role)}
}

// begun returns the item's event as it begins in the log.
func (s *stream) begun(ref Ref) session.Event {
	return session.Event{
		ID: s.start.ID, InvocationID: ref.RunID, Author: s.start.Author,
		Fields: map[string]json.RawMessage{"content": content.NewDraft(s.start.Role).Snapshot()},
	}.Continued(ref.Continuation)
}

// add appends a delta to the pending ones if the item has room for it.
func (s *stream) add(d content.Delta) error {
	if s.content.Size()+d.Size() > MaxItem {
		return fail(CodeLimit, fmt.Sprintf("the agent produced an item of more than %d bytes", MaxItem))
	}
	if err := s.content.Append(d, ""); err != nil {
		var f *fault.Error
		if !errors.As(err, &f) {
			return err
		}
		return failBecause(CodeContent, "a piece of an item does not fit it: "+f.Detail, err)
	}
	if s.waiting = append(s.waiting, d); s.timer == nil && s.stored != nil {
		s.timer = time.After(s.wait())
	}
	size, err := jsonSize(d)
	s.bytes += size
	return err
}

// wait returns how long a delta may wait that is the first one to be pending.
func (s *stream) wait() time.Duration {
	wait := time.Until(s.last.Add(s.every))
	if wait > 0 && !s.stored.Watched() {
		return s.every
	}
	return wait
}

// jsonSize returns the size of a delta's text as JSON, in bytes. The surrounding
// JSON is not counted, since consecutive deltas share it.
func jsonSize(d content.Delta) (int, error) {
	text, err := jsonx.Marshal(d.Appended())
	if err != nil {
		return 0, fmt.Errorf("measure a delta: %w", err)
	}
	return len(text) - len(`""`) + d.Size() - len(d.Appended()), nil
}

// full reports whether the pending deltas are due now, whatever the timer says.
func (s *stream) full() bool { return s.stored == nil || s.bytes >= s.pace.FlushBytes }

// due fires when deltas have been pending long enough; it accepts a nil stream.
func (s *stream) due() <-chan time.Time {
	if s == nil {
		return nil
	}
	return s.timer
}

// firstInterval is the part of FlushEvery, as a divisor, that an item's first
// interval takes while somebody watches.
const firstInterval = 4

// flushed records that the pending deltas are stored.
func (s *stream) flushed() {
	s.every = min(max(2*s.every, s.pace.FlushEvery/firstInterval), s.pace.FlushEvery)
	if !s.stored.Watched() {
		s.every = s.pace.FlushEvery
	}
	s.waiting, s.bytes, s.timer, s.last = nil, 0, nil, time.Now()
}
