package subscriptions

import "github.com/rethread/rethread/shared/store/table"

const skWatch = "W"

func watchersKey(log string) table.Key  { return table.NewKey("W#"+log, skWatch) }
func connectionKey(id string) table.Key { return table.NewKey("WC#"+id, skWatch) }
