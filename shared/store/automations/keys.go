package automations

import (
	"fmt"

	"github.com/rethread/rethread/shared/store/table"
)

func automationPK(user string) string      { return "AU#" + user }
func automationSK(place int) string        { return fmt.Sprintf("%02d", place) }
func startedPK(user string) string         { return "AN#" + user }
func startedKey(user, id string) table.Key { return table.NewKey(startedPK(user), id) }
