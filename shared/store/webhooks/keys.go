package webhooks

import "github.com/rethread/rethread/shared/store/table"

func webhooksKey(user string) table.Key   { return table.NewKey("HK#"+user, "HOOKS") }
func secretKey(user, id string) table.Key { return table.NewKey("HS#"+user, id) }
func recordsPK(user string) string        { return "HL#" + user }
func recordPrefix(id string) string       { return id + "/" }
func recordKey(user, id, delivery string) table.Key {
	return table.NewKey(recordsPK(user), recordPrefix(id)+delivery)
}
