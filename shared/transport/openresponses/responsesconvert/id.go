package responsesconvert

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

// ID identifies a response without a lookup. It is no secret: access is checked on the
// session.
type ID struct {
	SessionID, RunID string
	// After is a position of the session's log before the run's events.
	After int64
}

const responsePrefix = "resp_"

// String returns the id as clients know it.
func (id ID) String() string {
	text := id.SessionID + "/" + id.RunID + "/" + strconv.FormatInt(id.After, 36)
	return responsePrefix + base64.RawURLEncoding.EncodeToString([]byte(text))
}

// ParseID parses the id of a response; false if it cannot be one.
func ParseID(text string) (ID, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, responsePrefix))
	if err != nil {
		return ID{}, false
	}
	parts := strings.Split(string(raw), "/")
	if len(parts) != 3 || ids.Check("", parts[0]) != nil || ids.Check("", parts[1]) != nil {
		return ID{}, false
	}
	after, err := strconv.ParseInt(parts[2], 36, 64)
	id := ID{SessionID: parts[0], RunID: parts[1], After: after}
	return id, err == nil && after >= 0 && id.String() == text
}

// Prefixes of the ids of items, by type.
const (
	prefixMessage   = "msg_"
	prefixReasoning = "rs_"
	prefixCall      = "fc_"
	prefixOutput    = "fco_"
	prefixOwn       = "rt_"
)

// itemID returns the id of the item that one part of an event is. It depends on the
// part's kind and place only, so it is the same in a stream and after it.
func itemID(prefix string, e session.Event, part int) string {
	return prefix + strconv.FormatInt(e.Seq, 36) + "_" + strconv.Itoa(part) + "_" + e.ID
}

// SeqOf returns the position of the event that an item is a part of; false if the id
// cannot be an item's.
func SeqOf(item string) (int64, bool) {
	_, place, ok := placeOf(item)
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseInt(place[0], 36, 64)
	return seq, err == nil && seq > 0
}

// Begun reports whether an item of the log is that of an input which had the id waiting while
// it was queued, without a position in the log.
func Begun(item, waiting string) bool {
	kind, place, ok := placeOf(waiting)
	of, at, _ := placeOf(item)
	return ok && kind == of && place[0] == "0" && place[1] == at[1]
}

// Waits reports whether an id is that of an item of an input that was queued.
func Waits(item string) bool { return Begun(item, item) }

// placeOf splits an item's id: its prefix, and the position of its event and its part there.
func placeOf(item string) (prefix string, place [2]string, ok bool) {
	parts := strings.SplitN(item, "_", 4)
	if len(parts) != 4 {
		return "", place, false
	}
	return parts[0], [2]string{parts[1], parts[2]}, true
}
