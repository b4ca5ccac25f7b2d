package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/chaos/fold"
	"github.com/rethread/rethread/infra/chaos/users"
	"github.com/rethread/rethread/shared/base/retry"
)

// watchTime is how long a watcher may need to show the thread after the last
// change.
const watchTime = 60 * time.Second

// watched checks that every watcher of a session ends with its thread, and that
// what was shown of an item is what is stored.
func (c *Checker) watched(ctx context.Context, s *subject) {
	for _, w := range c.World.Watchers.All() {
		if w.Session != s.session.ID {
			continue
		}
		problem := c.agrees(ctx, s, w)
		c.expect(problem == "", "watchers", s.session.ID, "by %s: %s", w.By, problem)
		_, shown, problems, _ := w.Now()
		c.expect(len(problems) == 0, "shown", s.session.ID, "by %s: %s", w.By, strings.Join(problems, "; "))
		for id, was := range shown {
			c.stored(s, w, id, was)
		}
	}
}

// agrees waits until a watcher shows the thread, and otherwise returns the
// difference.
func (c *Checker) agrees(ctx context.Context, s *subject, w *users.Watcher) string {
	want := append(items(s.thread.Items), fmt.Sprint(s.thread.Status, s.thread.RunID), queue(s.thread.QueueVersion, s.thread.Queued))
	for deadline := time.Now().Add(watchTime); ; {
		now, _, _, over := w.Now()
		got := append(items(now.Items), fmt.Sprint(now.Status, now.RunID), queue(now.QueueVersion, now.Queued))
		switch {
		case slices.Equal(want, got):
			return ""
		case over != nil && !errors.Is(over, watch.ErrClosed):
			return fmt.Sprintf("the watch ended: %v", over)
		case time.Now().After(deadline):
			return difference(want, got)
		}
		if retry.Sleep(ctx, 100*time.Millisecond) != nil {
			return ""
		}
	}
}

// queue is a version of a queue in a comparable form.
func queue(version int64, queued []view.Queued) string {
	text := fmt.Sprint("queue ", version)
	for _, q := range queued {
		text += fmt.Sprintf(" %s: %s", q.RunID, q.Input)
	}
	return text
}

// stored compares what was shown of an item with the log.
func (c *Checker) stored(s *subject, w *users.Watcher, id string, was users.Shown) {
	at := slices.IndexFunc(s.log.Entries, func(e fold.Entry) bool { return e.ID == id })
	if at < 0 {
		c.expect(false, "shown", s.session.ID, "by %s: %s was shown, but is not in the log", w.By, id)
		return
	}
	e := s.log.Entries[at]
	switch was.Status {
	case view.EventCompleted, view.EventFailed:
		c.expect(e.Status == string(was.Status) && e.Text() == was.Text, "shown", s.session.ID,
			"by %s: the completed %s was shown as %s %.200q, but is stored as %s %.200q", w.By, id, was.Status, was.Text, e.Status, e.Text())
	default:
		c.expect(strings.HasPrefix(e.Text(), was.Text), "shown", s.session.ID,
			"by %s: %s was shown as %.200q, but is stored as %.200q", w.By, id, was.Text, e.Text())
	}
}
