package shares

import (
	"strings"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/table"
)

// Revocation returns the watch update for a removed item: a share that is gone, or
// a guest who has left a link. It is empty for any other item.
func Revocation(removed table.Item) watch.LogUpdate {
	log, ok := strings.CutPrefix(table.Text(removed, table.PK), prefixShares)
	if !ok {
		return watch.LogUpdate{}
	}
	sk := table.Text(removed, table.SK)
	if id, ok := strings.CutPrefix(sk, prefixShare); ok {
		return watch.LogUpdate{Log: log, Revoked: []watch.Grant{{Share: id}}}
	}
	if strings.HasPrefix(sk, prefixGrant) {
		g := watch.Grant{Share: table.Text(removed, grantShare), UserID: table.Text(removed, grantUser)}
		return watch.LogUpdate{Log: log, Revoked: []watch.Grant{g}}
	}
	return watch.LogUpdate{}
}
