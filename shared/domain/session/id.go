package session

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// An event without an id from the caller gets a UUID of version 8 (RFC 9562) that
// begins with the event's position: such an id leads to its event without an index,
// so it costs no write.
const (
	positionBytes  = 6
	positionDigits = 2*positionBytes + 1 // with a hyphen
	maxPosition    = 1<<(8*positionBytes) - 1
)

// PositionalID returns the id of the event at a position; random provides the other
// 74 bits.
func PositionalID(seq int64, random uuid.UUID) string {
	id := random
	var pos [8]byte
	binary.BigEndian.PutUint64(pos[:], uint64(seq)) //nolint:gosec // positions are positive
	copy(id[:positionBytes], pos[8-positionBytes:])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// WithoutPosition returns the part of a positional id that does not depend on the
// position.
func WithoutPosition(id string) string { return id[min(len(id), positionDigits):] }

// maxNumber is the largest number in an id that names its invocation.
const maxNumber = 999_999_999

// NamedInvocation returns the invocation that an event id of the form
// <invocation_id>.<n> names, and its number, from 0 to 999999999 without leading
// zeros.
func NamedInvocation(id string) (invocation string, n int64, ok bool) {
	dot := strings.LastIndexByte(id, '.')
	if dot < 1 {
		return "", 0, false
	}
	digits := id[dot+1:]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > maxNumber || strconv.FormatInt(n, 10) != digits || n < 0 {
		return "", 0, false
	}
	return id[:dot], n, true
}

// Misnamed reports whether the event's id names another invocation than its own.
func (e Event) Misnamed() bool {
	invocation, _, ok := NamedInvocation(e.ID)
	return ok && invocation != e.InvocationID
}

// PositionOf returns the position in a positional id. Any id of version 8 has one,
// so the caller must compare the id of the event that it finds there.
func PositionOf(id string) (int64, bool) {
	u, err := uuid.Parse(id)
	if err != nil || u.Version() != 8 || u.String() != id {
		return 0, false
	}
	var pos [8]byte
	copy(pos[8-positionBytes:], u[:positionBytes])
	seq := binary.BigEndian.Uint64(pos[:])
	return int64(seq), seq > 0 && seq < maxPosition //nolint:gosec // 48 bits
}
