package lanes

import (
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/table"
)

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
