package subscriptions

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/rethread/rethread/shared/store/table"
)

// The sort keys of a log's partition. Revocations sort before watchers, so that a reader
// has all of them before the first watcher.
const (
	prefixRevocation = "R#"
	prefixWatcher    = "W#"
)

const skConnection = "W"

func watchersPK(log string) string { return "W#" + log }

func watcherKey(log, connection string) table.Key {
	return table.NewKey(watchersPK(log), prefixWatcher+connection)
}

func connectionKey(id string) table.Key { return table.NewKey("WC#"+id, skConnection) }

// revocationKey is the key of the revocation of a share or, with a user, of that user's
// part in it. It contains a digest of the user, because it outlives the user's data.
func revocationKey(log, share, user string) table.Key {
	sk := prefixRevocation + share
	if user != "" {
		sum := sha256.Sum256([]byte(user))
		sk += "/" + hex.EncodeToString(sum[:8])
	}
	return table.NewKey(watchersPK(log), sk)
}
