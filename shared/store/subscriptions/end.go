package subscriptions

import (
	"context"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/table"
)

var _ access.Subscriptions = (*Store)(nil)

// A revocation is an item beside the watchers: whoever reads the watchers later reads it
// too, and sends the guests of the share nothing but the unsubscribed notice. So neither
// does it depend on how many there are, nor must a guest's subscription be one
// transaction with the share: one that is stored after the revocation has ended as well.

// revocationLife is longer than any subscription lasts that was allowed before.
const revocationLife = watcherLife + time.Hour

type revocation struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Expires int64  `dynamodbav:"expires"`
}

// EndSubscriptions implements access.Subscriptions; the share must already be
// removed. The subscriptions stay, because the connections still get a notice: the
// fan-out sends it when the removal of the share reaches it.
func (s *Store) EndSubscriptions(ctx context.Context, log, shareID string) error {
	return s.EndUserSubscriptions(ctx, log, shareID, "")
}

// EndUserSubscriptions is EndSubscriptions for one of the share's users.
func (s *Store) EndUserSubscriptions(ctx context.Context, log, shareID, userID string) error {
	k := revocationKey(log, shareID, userID)
	if err := s.DB.Put(ctx, revocation{PK: k.PK, SK: k.SK, Expires: s.Now().Add(revocationLife).Unix()}); err != nil {
		return fmt.Errorf("end subscriptions of log %s: %w", log, err)
	}
	return nil
}

// Readmit returns the write by which a share, or with a user that user's part in it,
// gives subscriptions again that had been ended.
func (s *Store) Readmit(log, shareID, userID string) table.Write {
	return table.Delete(revocationKey(log, shareID, userID))
}
