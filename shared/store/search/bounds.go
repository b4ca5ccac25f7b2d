package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// The bounds of a search, and where it continues after them.

// Rules bound the work of a search, and say which ranges of a log get a set of
// their words.
type Rules struct {
	// Bytes and Time end a request, which then continues with a cursor.
	Bytes int64
	Time  time.Duration
	// LeastRange is the size of the smallest range that gets a set, and WholeRange
	// that from which on a set does not grow, in bytes of events.
	LeastRange, WholeRange int64
}

// DefaultRules are the bounds of a deployment that sets none.
func DefaultRules() Rules {
	return Rules{Bytes: 4 << 20, Time: 5 * time.Second, LeastRange: 16 << 10, WholeRange: 128 << 10}
}

// searchPosition is where a search continues: in a list and, if log is set, at the
// next session in it, which has the log, before a seq of an epoch.
type searchPosition struct {
	after         string
	log           string
	epoch, before int64
}

func (p searchPosition) String() string {
	return fmt.Sprintf("%s/%d/%d/%s", p.log, p.epoch, p.before, p.after)
}

func parseSearchPosition(text string) (p searchPosition, err error) {
	if text == "" {
		return p, nil
	}
	parts := strings.SplitN(text, "/", 4)
	if len(parts) == 4 {
		p.log, p.after = parts[0], parts[3]
		if p.epoch, err = strconv.ParseInt(parts[1], 10, 64); err == nil {
			p.before, err = strconv.ParseInt(parts[2], 10, 64)
		}
	}
	if err != nil || len(parts) < 4 {
		return p, fault.Field(fault.InvalidCursor, "cursor", "is not a position of a search")
	}
	return p, nil
}
