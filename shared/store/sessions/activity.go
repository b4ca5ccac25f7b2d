package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/table"
)

// A user's list is ordered by last activity. Within a chat the order does not
// change from turn to turn: only when another session was active in between
// must this one move up, which costs three write units. Whether it must is one
// cheap read of the index, made while the rest of the append is under way.

// watchNewest starts reading which session of the user's is on top of the
// list; the function it returns waits for the answer, and has it for each try of
// a write.
func (s *Store) watchNewest(ctx context.Context, h *header) func() (bool, error) {
	type answer struct {
		newest bool
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		page, err := s.db.Query(ctx, table.Query{
			Index: store.ActivityIndex, Partition: h.GPK, Descending: true, Limit: 1,
		})
		if err != nil {
			done <- answer{err: fmt.Errorf("read the newest session: %w", err)}
			return
		}
		done <- answer{newest: len(page.Items) > 0 && table.Text(page.Items[0], attrPK) == h.PK}
	}()
	return sync.OnceValues(func() (bool, error) { a := <-done; return a.newest, a.err })
}

// activityChanges are the changes of the header that put the session on top of its user's
// list: none where it stands there.
func (h *header) activityChanges(newest func() (bool, error), now int64) ([]table.Change, error) {
	onTop, err := newest()
	if err != nil || onTop {
		return nil, err
	}
	return []table.Change{h.moveToTop(now)}, nil
}

// moveToTop is the change that puts the session on top of its user's list.
func (h *header) moveToTop(now int64) table.Change {
	return table.Set(table.At(attrGSK), activitySK(now, h.id()))
}

// touchActivity puts the session on top of its user's list. Where it is there already
// it costs nothing, or one write unit with touch, which records an activity
// that left no trace in the log. What was stored stays stored if this fails:
// the next activity puts the list right.
func (s *Store) touchActivity(ctx context.Context, h *header, newest func() (bool, error), now int64, touch bool) {
	onTop, err := newest()
	if err == nil && onTop && !touch {
		return
	}
	changes := []table.Change{table.Set(table.At(headerLastActivity), now)}
	if !onTop {
		changes = append(changes, h.moveToTop(now))
	}
	if err == nil {
		err = s.db.Update(ctx, sessionKey(h.id()), changes, h.sameLog(), table.Less(table.At(headerLastActivity), now))
	}
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		s.log.WarnContext(ctx, "session list not updated", "session_id", h.id(), "error", err)
	}
}
