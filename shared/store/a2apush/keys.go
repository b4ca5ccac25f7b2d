package a2apush

import "github.com/rethread/rethread/shared/store/table"

// place is where the configurations of a task are.
type place struct{ log, task string }

func listPK(log string) string { return "N#" + log }

// list is the key of a listed, configs that of a pushed.
func (p place) list() table.Key    { return table.NewKey(listPK(p.log), p.task) }
func (p place) configs() table.Key { return table.NewKey("NS#"+p.log, p.task) }
