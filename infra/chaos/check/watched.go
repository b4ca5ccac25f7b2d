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
	"github.com/rethread/rethread/shared/base/sleep"
)

// watchTime is how long a watcher may need until it shows the thread, once nothing
// changes any more.
const watchTime = 60 * time.Second

// watched: whoever watches a session ends with its thread, and what was shown of
// an item is what is stored.
func (c *Checker) watched(ctx context.Context, s *subject) {
	for _, w := range c.World.Watchers.All() {
		if w.Session != s.talk.ID {
			continue
		}
		problem := c.agrees(ctx, s, w)
		c.hold(problem == "", "watchers", s.talk.ID, "by %s: %s", w.By, problem)
		_, shown, problems, _ := w.Now()
		c.hold(len(problems) == 0, "shown", s.talk.ID, "by %s: %s", w.By, strings.Join(problems, "; "))
		for id, was := range shown {
			c.stored(s, w, id, was)
		}
	}
}

// agrees waits until a watcher shows the thread, and says what it shows instead.
func (c *Checker) agrees(ctx context.Context, s *subject, w *users.Watcher) string {
	want := append(items(s.thread.Items), fmt.Sprint(s.thread.Status, s.thread.RunID))
	for deadline := time.Now().Add(watchTime); ; {
		now, _, _, over := w.Now()
		got := append(items(now.Items), fmt.Sprint(now.Status, now.RunID))
		switch {
		case slices.Equal(want, got):
			return ""
		case over != nil && !errors.Is(over, watch.ErrClosed):
			return fmt.Sprintf("it ended: %v", over)
		case time.Now().After(deadline):
			return difference(want, got)
		}
		if sleep.For(ctx, 100*time.Millisecond) != nil {
			return ""
		}
	}
}

// stored holds what was shown of an item to what the log keeps.
func (c *Checker) stored(s *subject, w *users.Watcher, id string, was users.Shown) {
	at := slices.IndexFunc(s.log.Entries, func(e fold.Entry) bool { return e.ID == id })
	if at < 0 {
		c.hold(false, "shown", s.talk.ID, "by %s: %s was shown, and is not in the log", w.By, id)
		return
	}
	e := s.log.Entries[at]
	switch was.Status {
	case view.EventCompleted, view.EventFailed:
		c.hold(e.Status == string(was.Status) && e.Text() == was.Text, "shown", s.talk.ID,
			"by %s: the end of %s was shown as %s %.200q, and is stored as %s %.200q", w.By, id, was.Status, was.Text, e.Status, e.Text())
	default:
		c.hold(strings.HasPrefix(e.Text(), was.Text), "shown", s.talk.ID,
			"by %s: of %s was shown %.200q, and is stored %.200q", w.By, id, was.Text, e.Text())
	}
}
