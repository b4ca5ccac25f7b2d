package a2apush

import "github.com/rethread/rethread/shared/store/table"

func pushPK(log string) string         { return "N#" + log }
func pushKey(log, id string) table.Key { return table.NewKey(pushPK(log), id) }
