package sessions

import (
	"context"
	"strings"

	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

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
