package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
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
func (s *Store) SweepLater(ctx context.Context, log string, conditions ...table.Condition) error {
	return s.DB.Update(ctx, keys.DeletedKey(log), []table.Change{
		table.Set(table.At(keys.AttrGPK), keys.GpkDeleted), table.Set(table.At(keys.AttrGSK), keys.ActivitySK(s.Millis(), log)),
	}, conditions...)
}
