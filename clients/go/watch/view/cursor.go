package view

import (
	"fmt"
	"strconv"
	"strings"
)

// Cursor is the position of a watcher: it has everything up to position Seq of the
// session's log and, of the item at Seq, the deltas 1 to Offset. The final form of
// an item that was streamed in n deltas has offset n+1. Epoch is the number of the
// session's rewinds.
type Cursor struct {
	Epoch, Seq, Offset int64
}

// String returns the cursor in the API's form, epoch.seq.offset.
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

// ParseCursor parses a cursor of the form epoch.seq.offset, three decimal numbers of
// at least 0.
func ParseCursor(text string) (Cursor, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return Cursor{}, fmt.Errorf("%.100q is not a cursor", text)
	}
	var n [3]int64
	for i, part := range parts {
		var err error
		if n[i], err = strconv.ParseInt(part, 10, 64); err != nil || n[i] < 0 {
			return Cursor{}, fmt.Errorf("%.100q is not a cursor", text)
		}
	}
	return Cursor{Epoch: n[0], Seq: n[1], Offset: n[2]}, nil
}

// Before reports whether c is an earlier position than d.
func (c Cursor) Before(d Cursor) bool {
	if c.Epoch != d.Epoch {
		return c.Epoch < d.Epoch
	}
	if c.Seq != d.Seq {
		return c.Seq < d.Seq
	}
	return c.Offset < d.Offset
}
