package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// stream is an item in progress. It lets deltas wait for one another, so that
// many of them make one write: the first is due at once, later ones when
// FlushEvery has passed since the last flush or FlushBytes of text wait.
type stream struct {
	start   ItemStart
	pace    Pace
	stored  Item     // nil until there is a delta
	content *Content // what waits included

	waiting []Delta
	bytes   int              // of text that waits, as JSON
	last    time.Time        // when the last flush was done
	timer   <-chan time.Time // fires when what waits is due; nil while nothing does
}

func newStream(start ItemStart, pace Pace) *stream {
	return &stream{start: start, pace: pace, content: NewContent(start.Role)}
}

// begun is the item as it begins in the log.
func (s *stream) begun(invocation string) session.Event {
	return session.Event{
		ID: s.start.ID, InvocationID: invocation, Author: s.start.Author,
		Fields: map[string]json.RawMessage{"content": NewContent(s.start.Role).Snapshot()},
	}
}

// add takes a delta that the item has room for.
func (s *stream) add(d Delta) error {
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
		s.timer = time.After(time.Until(s.last.Add(s.pace.FlushEvery)))
	}
	size, err := jsonSize(d)
	s.bytes += size
	return err
}

// jsonSize is how many bytes of JSON a delta's text takes. What stands around
// it is left out, since deltas that continue one another share that.
func jsonSize(d Delta) (int, error) {
	text, err := jsonx.Marshal(d.appended())
	if err != nil {
		return 0, fmt.Errorf("measure a delta: %w", err)
	}
	return len(text) - len(`""`) + d.Size() - len(d.appended()), nil
}

// full reports whether what waits is due now, whatever the timer says.
func (s *stream) full() bool { return s.stored == nil || s.bytes >= s.pace.FlushBytes }

// due fires when deltas have waited long enough; there may be no item at all.
func (s *stream) due() <-chan time.Time {
	if s == nil {
		return nil
	}
	return s.timer
}

// flushed says that what waited is stored.
func (s *stream) flushed() {
	s.waiting, s.bytes, s.timer, s.last = nil, 0, nil, time.Now()
}
