package idempotency

import (
	"github.com/rethread/rethread/shared/domain/idempotency"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/table"
)

// Deleting implements lifecycle.Dependent: the key that the session was created
// under stays used until it expires, although its answer is deleted with the
// session.
func (s *Store) Deleting(d lifecycle.Deletion) []table.Write {
	expires := (d.Made + idempotency.Lifetime.Milliseconds()) / 1000
	if d.KeyedBy == "" || expires < s.Now().Unix() {
		return nil
	}
	changes := append(spent(), table.SetIfAbsent(table.Path{keyExpires}, expires))
	return []table.Write{table.Update(claimKey(d.Session.User, d.KeyedBy), changes)}
}

// spent returns the changes that reduce a claim to the fact that it was made.
func spent() []table.Change {
	changes := []table.Change{
		table.Set(table.Path{keyErased}, true), table.Set(table.Path{keyDone}, true), table.Set(table.Path{keyLease}, 0),
	}
	for _, name := range []string{keyDigest, keyNonce, keyLog, keyInline, keyBlob, keyLarge} {
		changes = append(changes, table.Remove(table.Path{name}))
	}
	return changes
}
