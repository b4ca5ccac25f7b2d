package subscriptions

import (
	"time"

	"github.com/rethread/rethread/shared/store/table"
)

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

// EndSubscriptions returns the write that ends the subscriptions by a share or, with a
// user, those of that user by it. It is in one transaction with the removal of what let
// them in. The subscriptions stay, because the connections still get a notice: the
// fan-out sends it when the removal reaches it.
func (s *Store) EndSubscriptions(log, shareID, userID string) table.Write {
	k := revocationKey(log, shareID, userID)
	return table.Put(revocation{PK: k.PK, SK: k.SK, Expires: s.Now().Add(revocationLife).Unix()})
}

// Readmit returns the write that undoes EndSubscriptions. It is in one transaction with
// what lets the users in again.
func (s *Store) Readmit(log, shareID, userID string) table.Write {
	return table.Delete(revocationKey(log, shareID, userID))
}
