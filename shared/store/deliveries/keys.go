package deliveries

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/table"
)

func webhooksKey(user string) table.Key   { return table.NewKey("HK#"+user, "HOOKS") }
func secretKey(user, id string) table.Key { return table.NewKey("HS#"+user, id) }
func recordsPK(user string) string        { return "HL#" + user }
func recordPrefix(id string) string       { return id + "/" }
func recordKey(user, id, delivery string) table.Key {
	return table.NewKey(recordsPK(user), recordPrefix(id)+delivery)
}

// pushPlace is where the configurations of a task are.
type pushPlace struct{ log, task string }

func listPK(log string) string { return "N#" + log }

// list is the key of a pushList, configs that of a pushesItem.
func (p pushPlace) list() table.Key    { return table.NewKey(listPK(p.log), p.task) }
func (p pushPlace) configs() table.Key { return table.NewKey("NS#"+p.log, p.task) }

func automationPK(user string) string      { return "AU#" + user }
func automationSK(place int) string        { return fmt.Sprintf("%02d", place) }
func startedPK(user string) string         { return "AN#" + user }
func startedKey(user, id string) table.Key { return table.NewKey(startedPK(user), id) }

const (
	skLane       = "LANE"
	prefixLane   = "DL#"
	prefixParked = "P#"
	prefixAside  = "ASIDE#"
)

// lanePK is the partition of a group or of a family, whose lanes share it.
func lanePK(group string) string {
	family, _ := delivery.SplitGroup(group)
	return prefixLane + family
}

func laneKey(group string) table.Key {
	if _, member := delivery.SplitGroup(group); member != "" {
		return table.NewKey(lanePK(group), skLane+"#"+member)
	}
	return table.NewKey(lanePK(group), skLane)
}

// laneGroup returns the group of the lane with a key.
func laneGroup(k table.Key) string {
	family, member := strings.TrimPrefix(k.PK, prefixLane), strings.TrimPrefix(k.SK, skLane)
	if member == "" {
		return family
	}
	return delivery.JoinGroup(family, member[1:])
}

func parkedPrefix(group string) string {
	if _, member := delivery.SplitGroup(group); member != "" {
		return prefixParked + member + "#"
	}
	return prefixParked
}

func parkedKey(group, place string) table.Key {
	return table.NewKey(lanePK(group), parkedPrefix(group)+place)
}

func quarantineSK(sk string, millis int64) string {
	return prefixAside + sk + "#" + strconv.FormatInt(millis, 10)
}
