package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// An append that has read the head of a log before the transaction of a deletion may put its
// entry after it, until the deletion has taken the log's next position. So that transaction
// leaves an item in place of the header, and whoever meets it, such as the deletion itself,
// takes the position first, and then says that there is no session.

// departed is what a deletion leaves of a header until the next position of the log is held.
type departed struct {
	PK   string `dynamodbav:"PK"`
	SK   string `dynamodbav:"SK"`
	Gone string `dynamodbav:"gl"` // the log
	Base int64  `dynamodbav:"gb,omitempty"`
}

// headerGone is the attribute of departed.Gone.
const headerGone = "gl"

// Departed reports whether an item under the key of a header says only that its session is
// being deleted.
func Departed(item table.Item) bool { return item[headerGone] != nil }

// Depart returns the write that leaves no session, if the condition on its header holds.
// EndDeletion must follow.
func (h *Header) Depart(c table.Condition) table.Write {
	return table.Put(departed{PK: h.PK, SK: h.SK, Gone: h.Log, Base: h.Base()}, c, h.SameBytes())
}

// EndDeletion ends a deletion whose transaction wrote Depart: the log takes no more entries, and then
// the id is free.
func (s *departures) EndDeletion(ctx context.Context, h *Header) error {
	return s.leave(ctx, departed{PK: h.PK, SK: h.SK, Gone: h.Log, Base: h.Base()})
}

func (s *departures) leave(ctx context.Context, d departed) error {
	if err := s.logs.HoldNext(ctx, d.Gone, d.Base); err != nil {
		return err
	}
	return s.free(ctx, d)
}

func (s *departures) free(ctx context.Context, d departed) error {
	err := s.DB.Delete(ctx, table.NewKey(d.PK, d.SK), table.Equal(table.Path{headerGone}, d.Gone))
	return records.Ignoring(err, table.ErrConditionFailed)
}

// Present returns an item under the key of a header, nil if the session does not exist. It ends
// a deletion that stopped halfway.
func (s *departures) Present(ctx context.Context, item table.Item) (table.Item, error) {
	if !Departed(item) {
		return item, nil
	}
	var d departed
	if err := table.Decode(item, &d); err != nil {
		return nil, err
	}
	// The log of an item that a lagging replica shows may have been swept.
	err := s.logs.CheckExists(ctx, d.Gone)
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)):
		return nil, s.leave(ctx, d)
	case err != nil:
		return nil, err
	}
	return nil, s.free(ctx, d)
}

// ForgetHeader deletes what is left of a session's header when its log has been swept.
func (s *departures) ForgetHeader(ctx context.Context, id, log string) error {
	item, err := s.DB.GetEventually(ctx, keys.SessionKey(id))
	if err != nil || table.Text(item, headerGone) != log {
		return err
	}
	if err := s.free(ctx, departed{PK: table.Text(item, table.PK), SK: table.Text(item, table.SK), Gone: log}); err != nil {
		return fmt.Errorf("delete what is left of session %s: %w", id, err)
	}
	return nil
}
