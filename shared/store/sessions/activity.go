package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// A user's list is ordered by last activity. During a conversation the order rarely
// changes: only if another session was active in between does this one have to move
// up, which costs three write units. A cheap read of the index, made while the rest
// of the append is under way, decides that.

// onTopTime is how long a session that was at the top of the list is taken to be there by
// an instance that appends to it again and again.
const onTopTime = 5 * time.Second

// knownActivity is the session that an instance has seen at the top of a user's list.
type knownActivity struct {
	pk   string
	seen time.Time
}

// checkOnTopOnce is CheckOnTop for a session that this instance has just seen there.
func (s *Store) checkOnTopOnce(ctx context.Context, h *Header) func() (bool, error) {
	if k, ok := s.onTop.Get(h.GPK); ok && k.pk == h.PK && s.Now().Sub(k.seen) < onTopTime {
		return func() (bool, error) { return true, nil }
	}
	return s.CheckOnTop(ctx, h)
}

// CheckOnTop starts reading which of the user's sessions is at the top of the
// list. The returned function waits for the answer and caches it for each attempt
// of a write.
func (s *Store) CheckOnTop(ctx context.Context, h *Header) func() (bool, error) {
	type answer struct {
		newest bool
		err    error
	}
	done, began := make(chan answer, 1), s.Now()
	go func() {
		page, err := s.DB.Query(ctx, records.KeysOnly(table.Query{
			Index: store.ActivityIndex, Partition: h.GPK, Descending: true, Limit: 1,
		}))
		if err != nil {
			done <- answer{err: fmt.Errorf("read the newest session: %w", err)}
			return
		}
		if len(page.Items) == 0 {
			done <- answer{}
			return
		}
		newest := table.Text(page.Items[0], table.PK)
		s.onTop.Put(h.GPK, knownActivity{newest, began})
		done <- answer{newest: newest == h.PK}
	}()
	return sync.OnceValues(func() (bool, error) { a := <-done; return a.newest, a.err })
}

// ActivityChanges returns the changes of the header that move the session to the
// top of its user's list; none if it is there already.
func (h *Header) ActivityChanges(newest func() (bool, error), now int64) ([]table.Change, error) {
	onTop, err := newest()
	if err != nil || onTop {
		return nil, err
	}
	return []table.Change{h.moveToTop(now)}, nil
}

// moveToTop is the change that moves the session to the top of its user's list.
func (h *Header) moveToTop(now int64) table.Change {
	return table.Set(table.Path{keys.AttrGSK}, keys.ActivitySK(now, h.ID()))
}

// TouchActivity moves the session to the top of its user's list. If it is there
// already this costs nothing, or one write unit with touch, which records an
// activity without a log entry. A failure is not an error of the request: the next
// activity corrects the list.
func (s *Store) TouchActivity(ctx context.Context, h *Header, newest func() (bool, error), now int64, touch bool) {
	onTop, err := newest()
	if err == nil && onTop && !touch {
		return
	}
	changes := []table.Change{table.Set(table.Path{HeaderLastActivity}, now)}
	if !onTop {
		changes = append(changes, h.moveToTop(now))
	}
	if err == nil {
		err = s.DB.Update(ctx, keys.SessionKey(h.ID()), changes, h.SameLog(), table.Less(table.Path{HeaderLastActivity}, now))
	}
	if err == nil && !onTop {
		s.onTop.Put(h.GPK, knownActivity{h.PK, s.Now()})
	}
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		s.Log.WarnContext(ctx, "session list not updated", "session_id", h.ID(), "error", err)
	}
}
