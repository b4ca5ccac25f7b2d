package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/eventlog"
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

// DeletedLog is the pending removal of a deleted session's log. It is in the index
// while it is due, and not while forks still read the log.
type DeletedLog struct {
	PK                   string  `dynamodbav:"PK"`
	SK                   string  `dynamodbav:"SK"`
	Created              int64   `dynamodbav:"ct"`
	Origin               *Origin `dynamodbav:"fo,omitempty"`
	GPK                  string  `dynamodbav:"GPK,omitempty"`
	GSK                  string  `dynamodbav:"GSK,omitempty"`
	Deleted              int64   `dynamodbav:"dt,omitempty"` // when its session was deleted
	eventlog.Attribution         // for a session, not for an abandoned import
}

// SweepLater has a deleted session's log swept sweep.Grace from now.
func (s *departures) SweepLater(ctx context.Context, log string, conditions ...table.Condition) error {
	return s.DB.Update(ctx, keys.DeletedKey(log), []table.Change{
		table.Set(table.Path{keys.AttrGPK}, keys.GpkDeleted), table.Set(table.Path{keys.AttrGSK}, keys.ActivitySK(s.Millis(), log)),
	}, conditions...)
}

// ClearLog removes everything in a log's partition except the record of the pending
// removal.
func (s *departures) ClearLog(ctx context.Context, log string) error {
	return s.ClearExcept(ctx, log, func(table.Item) bool { return false })
}

// ClearExcept removes everything in a log's partition except the record of the
// pending removal and what keep selects.
func (s *departures) ClearExcept(ctx context.Context, log string, keep func(table.Item) bool) error {
	q := KeysOnly(records.Partition(keys.LogPK(log)))
	return s.DB.Pages(ctx, q, func(page []table.Item) (bool, error) {
		var doomed []table.Item
		for _, item := range page {
			sk := table.Text(item, table.SK)
			if sk == keys.SkDeleted || keep(item) {
				continue
			}
			if feedback, ok := strings.CutPrefix(sk, keys.PrefixFeedback); ok {
				owner := table.Text(item, keys.AttrOwner)
				_, id, _ := strings.Cut(feedback, "#")
				doomed = append(doomed,
					table.NewKey(keys.FeedbackPK(owner), feedback).Item(), keys.FeedbackTimeKey(owner, id).Item())
			}
			if task, ok := strings.CutPrefix(sk, keys.PrefixLink); ok {
				doomed = append(doomed, keys.LinkKey(table.Text(item, keys.AttrOwner), task).Item())
				if guest := table.Text(item, keys.AttrGuest); guest != "" {
					doomed = append(doomed, keys.LinkKey(guest, task).Item())
				}
			}
			doomed = append(doomed, item)
		}
		return true, s.DB.DeleteItems(ctx, doomed)
	})
}

// KeysOnly makes a query read what is needed to delete its items: their keys, and
// the attributes that name their owners.
func KeysOnly(q table.Query) table.Query {
	return records.KeysOnly(q, keys.AttrOwner, keys.AttrGuest, keys.AttrTombstone)
}

// StillUnforked keeps a task's creation or deletion out of forks that are made
// concurrently: they show the tasks as they were.
func (h *Header) StillUnforked() table.Write {
	return table.Check(keys.SessionKey(h.ID()), h.Unforked())
}
