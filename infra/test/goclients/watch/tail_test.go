package watch_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Under any schedule of the network, a browser client that holds only the end of a
// session shows the end of what GET thread shows, and all of it after reading back
// to the beginning.
func TestAnyScheduleEndsAtTheEndOfTheThread(t *testing.T) {
	node := startNode(t)
	property.CheckN(t, 300, func(r *rapid.T) { checkTail(r, node) })
}

func checkTail(t *rapid.T, node *node) {
	w := newWorld(t, false)
	end := &tail{world: w, browser: newBrowser(node), count: 1 + below(t, 6)}
	w.state, w.read = end.browser, end.readEnd
	for range 20 + below(t, 80) {
		if below(t, 25) == 0 && !w.gone {
			end.readOlder()
			continue
		}
		w.step()
	}
	w.quiet()
	if w.gone || w.state.Deleted() {
		return
	}
	end.check()
	for end.is.Older != nil {
		end.readOlder()
		w.quiet()
	}
	end.check()
}

// tail is a client that holds only the end of a session.
type tail struct {
	*browser

	world *world
	count int // of items in one read
}

// check compares the client's items with as many from the end of the thread.
func (c *tail) check() {
	t := c.world.t
	got, want := c.show(), c.world.m.thread()
	var held, all []any // any, for JavaScript's notation of numbers
	mustDecode(got.Items, &held)
	mustDecode(want.Items, &all)
	if got.HasOlder != (len(held) < len(all)) || (len(held) == 0) != (len(all) == 0) {
		t.Fatalf("%d of %d items, has_older %v", len(held), len(all), got.HasOlder)
	}
	got.Items = nil
	want.Items = nil
	if diff := cmp.Diff(mustText(want), mustText(got.shownNow)); diff != "" {
		t.Fatalf("the client's session differs from the thread (-thread +client):\n%s", diff)
	}
	if diff := cmp.Diff(mustText(all[len(all)-len(held):]), mustText(held)); diff != "" {
		t.Fatalf("the client's items differ from the end of the thread (-thread +client):\n%s", diff)
	}
}

// readEnd reads as many of the newest items as are held, again after a rewind in
// between.
func (c *tail) readEnd() {
	for !c.world.missing() {
		if page, older, ok := c.readDown(nil, max(c.count, c.is.Size)); ok {
			c.replace(page, older, c.world.now)
			return
		}
	}
}

// readOlder reads the items before those that are held.
func (c *tail) readOlder() {
	from := c.is.Older
	if from == nil || c.is.NeedsThread || c.world.missing() {
		return
	}
	if *from == "" { // a rewind has invalidated it
		c.reread()
		return
	}
	var before session.Resume
	mustDecode([]byte(*from), &before)
	page, older, ok := c.readDown(&before, c.count)
	for n := below(c.world.t, 4); n > 0 && !c.world.still; n-- { // the response is delayed
		c.world.step()
	}
	if ok {
		c.prepend(page, *from, older, c.world.now)
	} else if c.is.Older != nil {
		c.reread()
	}
}

// readDown reads count items backwards from a position, in pages that may be short;
// false if there was a rewind in between.
func (c *tail) readDown(before *session.Resume, count int) (end thread, older *session.Resume, ok bool) {
	var items []session.Event
	for first := true; first || (before != nil && len(items) < count); first = false {
		limit := 1 + below(c.world.t, count-len(items))
		page, next, ok := c.world.m.threadDown(before, limit, c.world.pause)
		if !ok {
			return end, nil, false
		}
		if first {
			end = page
		}
		items, before = append(items, page.Items...), next
		c.world.pause()
	}
	slices.Reverse(items)
	end.Items = items
	return end, before, true
}

// missing reports whether the client gets a 404 for the session.
func (w *world) missing() bool {
	w.gone = w.gone || w.m.head.deleted
	return w.gone
}

// threadDown returns a page of GET thread with order=desc.
func (m *model) threadDown(
	before *session.Resume, limit int, pause func(),
) (page thread, next *session.Resume, ok bool) {
	r := m.read(pause)
	end := r.head.last + 1
	if before != nil {
		if end = before.Seq; before.Epoch != r.h.epoch {
			return thread{}, nil, false
		}
	}
	events, more := r.eventsDown(end, limit)
	page, _ = r.page(nil, 0, false)
	page.Items = events
	if len(events) > 0 && events[0].Seq == page.Cursor.Seq {
		page.Cursor = watch.CursorAfter(r.h.epoch, events[0])
	}
	for _, e := range events {
		if e.Status == session.EventInProgress {
			page.Cursor, page.Offsets[e.ID] = watch.CursorAfter(r.h.epoch, e), e.Deltas
		}
	}
	if more {
		next = &session.Resume{Seq: events[len(events)-1].Seq, Epoch: r.h.epoch}
	}
	return page, next, true
}

// eventsDown reads the effective events before a seq, newest first.
func (r *reading) eventsDown(end int64, limit int) (events []session.Event, more bool) {
	for _, e := range slices.Backward(r.m.entries) {
		if e.first >= end {
			continue
		}
		r.pause()
		for _, ev := range slices.Backward(e.events) {
			switch {
			case ev.Seq >= end, e.hidden, e.task, !r.h.timeline.Shows(e.log, ev.Seq):
			case len(events) == limit:
				return events, true
			case e.inProgress():
				events = append(events, e.snapshot())
			default:
				events = append(events, ev)
			}
		}
	}
	return events, false
}
