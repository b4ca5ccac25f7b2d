package quota

import "time"

// streamRetry is the maximum Retry-After if all slots are taken.
const streamRetry = time.Minute

// Place is a slot for an open stream of a user, as it was read. Times are epoch
// milliseconds.
type Place struct {
	Slot    int64
	Subject string
	Taken   int64
	Until   int64 // when it is free
	Ended   bool  // its stream has ended, and its reader may reconnect
	Former  int64 // until when the stream that had it before may still be active
}

// Pick is the slot that a stream takes.
type Pick struct {
	Slot int64
	Over bool // taken from a stream that may still be active
}

// PickStream decides which place a stream takes; ok is false if there is none.
//   - A new one takes a free place, or that of a stream of the same subject that has
//     ended.
//   - A resumed one takes that of a stream of the same subject that has ended, a
//     free one, or that of the oldest running stream of the same subject; not one
//     that was taken over so recently that its former stream may be at work.
//
// Free places are tried from one on, which keeps streams that open together apart.
func (l Limits) PickStream(places []Place, s Stream, now time.Time, from int64) (pick Pick, ok bool) {
	var ended, running, free *Pick
	var oldest int64
	taken, used := map[int64]bool{}, int64(0)
	for _, p := range places {
		if p.Until <= now.UnixMilli() {
			continue
		}
		taken[p.Slot] = true
		used++
		switch {
		case p.Subject != s.Subject:
		case p.Ended:
			ended = &Pick{Slot: p.Slot}
		case p.Former <= now.UnixMilli() && (running == nil || p.Taken < oldest):
			running, oldest = &Pick{Slot: p.Slot, Over: true}, p.Taken
		}
	}
	for i := range l.Streams {
		if slot := (from + i) % l.Streams; used < l.Streams && !taken[slot] {
			free = &Pick{Slot: slot}
			break
		}
	}
	order := []*Pick{free, ended}
	if s.Resumed {
		order = []*Pick{ended, free, running}
	}
	for _, p := range order {
		if p != nil {
			return *p, true
		}
	}
	return Pick{}, false
}

// StreamsExceeded returns the fault for a user who opens one stream too many. A retry
// may succeed when the first slot is free.
func (l Limits) StreamsExceeded(places []Place, now time.Time) error {
	used, next := int64(0), streamRetry
	for _, p := range places {
		if left := time.UnixMilli(p.Until).Sub(now); left > 0 {
			used++
			next = min(next, left)
		}
	}
	return Exceeded(OpenStreams, l.Streams, used, next)
}
