package session

import (
	"encoding/binary"

	"github.com/google/uuid"
)

// An event without an id from the caller gets a UUID of version 8 (RFC 9562) that
// begins with the event's position: such an id leads to its event without an index,
// so it costs no write.
const (
	positionBytes = 6
	maxPosition   = 1<<(8*positionBytes) - 1
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
