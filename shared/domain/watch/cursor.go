// Package watch is the domain of watching a session in real time: cursors, messages
// and subscriptions. It depends on neither a database nor a transport.
package watch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

// Cursor is a watcher's position: it has everything up to the entry Seq of the
// session's log and, of that item, the deltas 1 to Offset. An item that was
// streamed in n deltas ends with one more step: a watcher at n+1 has its final
// form. Epoch counts the session's rewinds.
type Cursor struct {
	Epoch, Seq, Offset int64
}

// String returns the cursor in its external form: epoch.seq.offset.
func (c Cursor) String() string { return fmt.Sprintf("%d.%d.%d", c.Epoch, c.Seq, c.Offset) }

// MarshalText implements encoding.TextMarshaler.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cursor) UnmarshalText(text []byte) error {
	parsed, err := ParseCursor(string(text))
	if err == nil {
		*c = parsed
	}
	return err
}

// CursorAfter returns the cursor of a watcher that has the log up to an event, and
// the event in its current form.
func CursorAfter(epoch int64, e session.Event) Cursor {
	c := Cursor{Epoch: epoch, Seq: e.Seq, Offset: e.Deltas}
	if e.Status != session.EventInProgress && e.Deltas > 0 {
		c.Offset++
	}
	return c
}

// ParseCursor parses a cursor; anything else is a fault of the field cursor.
func ParseCursor(s string) (Cursor, error) {
	bad := fault.Field(fault.InvalidCursor, "cursor", "must be a cursor: epoch.seq.offset")
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return Cursor{}, bad
	}
	var n [3]int64
	for i, p := range parts {
		v, err := strconv.ParseInt(p, 10, 64)
		if err != nil || v < 0 || strconv.FormatInt(v, 10) != p {
			return Cursor{}, bad
		}
		n[i] = v
	}
	return Cursor{Epoch: n[0], Seq: n[1], Offset: n[2]}, nil
}

// Before reports whether c is before d.
func (c Cursor) Before(d Cursor) bool {
	if c.Epoch != d.Epoch {
		return c.Epoch < d.Epoch
	}
	if c.Seq != d.Seq {
		return c.Seq < d.Seq
	}
	return c.Offset < d.Offset
}
