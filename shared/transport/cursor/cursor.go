// Package cursor encodes the positions of lists, for all transports that have pages. A
// cursor is the store's position with a checksum over it and over the list's selection,
// so a modified cursor, or one of another list or user, is refused. REST, A2A and MCP share it.
package cursor

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

const (
	// MaxLen is the length of the longest cursor, in characters.
	MaxLen      = 4096
	checksumLen = 9
	// maxPosition bounds a position, in bytes: what a table accepts as the start of
	// a page, less the stores' prefixes.
	maxPosition = 900
)

// List names a list, its filters and its caller, to which a cursor belongs.
type List []string

// Malformed returns the fault for a text that is no cursor of a list.
func Malformed() error {
	return fault.Field(fault.InvalidCursor, "cursor", "is not a cursor of this list")
}

// Decode decodes a cursor into position, which stays unchanged without a cursor.
func (l List) Decode(cursor string, position any) error {
	if cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < checksumLen {
		return Malformed()
	}
	sum, encoded := raw[:checksumLen], raw[checksumLen:]
	want, err := l.checksum(encoded)
	if err != nil {
		return err
	}
	if string(sum) != string(want) || !decodePosition(encoded, position) {
		return Malformed()
	}
	return nil
}

// Encode returns the cursor of a position.
func (l List) Encode(position any) (string, error) {
	encoded, err := json.Marshal(position)
	if err != nil {
		return "", fmt.Errorf("encode a cursor: %w", err)
	}
	sum, err := l.checksum(encoded)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(sum, encoded...)), nil
}

func (l List) checksum(encoded []byte) ([]byte, error) {
	selects, err := json.Marshal([]string(l))
	if err != nil {
		return nil, fmt.Errorf("encode what a list selects: %w", err)
	}
	sum := sha256.Sum256(append(selects, encoded...))
	return sum[:checksumLen], nil
}

// decodePosition decodes a position that is written exactly as Encode writes it.
// The checksum is not secret, so anyone can forge a cursor.
func decodePosition(encoded []byte, position any) bool {
	if json.Unmarshal(encoded, position) != nil {
		return false
	}
	again, err := json.Marshal(position)
	return err == nil && bytes.Equal(again, encoded)
}

// DecodeText is Decode for stores whose position is a string; "" without a cursor.
func (l List) DecodeText(cursor string) (position string, err error) {
	if err = l.Decode(cursor, &position); err != nil || cursor == "" {
		return "", err
	}
	if !IsPosition(position) {
		return "", Malformed()
	}
	return position, nil
}

// IsPosition reports whether a store can start a page at a text.
func IsPosition(text string) bool {
	return text != "" && len(text) <= maxPosition && utf8.ValidString(text)
}

// logPosition is the position in a cursor of events.
type logPosition struct {
	Seq   int64 `json:"s"`
	Epoch int64 `json:"e"`
}

// DecodeLog is Decode for lists of a log.
func (l List) DecodeLog(cursor string) (session.Resume, error) {
	var from logPosition
	if err := l.Decode(cursor, &from); err != nil || cursor == "" {
		return session.Resume{}, err
	}
	if from.Seq < 1 || from.Seq > jsonx.MaxInteger || from.Epoch < 0 || from.Epoch > jsonx.MaxInteger {
		return session.Resume{}, Malformed()
	}
	return session.Resume(from), nil
}

// EncodeLog is Encode for lists of a log.
func (l List) EncodeLog(position session.Resume) (string, error) {
	return l.Encode(logPosition(position))
}
