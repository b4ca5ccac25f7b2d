package shares

import "github.com/rethread/rethread/shared/store/table"

const (
	prefixShares = "SH#"
	prefixShare  = "S#"
	prefixGrant  = "U#"
)

func sharesPK(log string) string        { return prefixShares + log }
func shareKey(log, id string) table.Key { return table.NewKey(sharesPK(log), prefixShare+id) }
func sharingKey(log string) table.Key   { return table.NewKey(sharesPK(log), "N") }
func grantPrefix(user string) string    { return prefixGrant + user + "/" }
func grantKey(log, user, share string) table.Key {
	return table.NewKey(sharesPK(log), grantPrefix(user)+share)
}
func tokenKey(digest string) table.Key { return table.NewKey("SHT#"+digest, "T") }
func sharedWithPK(user string) string  { return "SHU#" + user }
func sharedWithKey(user, log, share string) table.Key {
	return table.NewKey(sharedWithPK(user), log+"/"+share)
}
