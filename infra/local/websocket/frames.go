package websocket

import (
	"encoding/binary"
	"net"
	"sync/atomic"
)

const (
	lengthMask   = 0x7f
	length16     = 126 // the length follows in 2 bytes
	length64     = 127 // the length follows in 8 bytes
	maskedBit    = 0x80
	maskKeyBytes = 4
)

// frames inspects the frames that a client sends, because API Gateway limits their
// size (RFC 6455, section 5.2) and the WebSocket library does not expose it.
type frames struct {
	net.Conn
	limit int64

	header   []byte
	payload  uint64 // bytes left in the frame's payload
	tooLarge atomic.Bool
}

// Read implements net.Conn.
func (f *frames) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	f.inspect(p[:n])
	return n, err
}

// exceeded reports whether a frame over the limit has started to arrive.
func (f *frames) exceeded() bool { return f.tooLarge.Load() }

func (f *frames) inspect(data []byte) {
	for len(data) > 0 {
		if f.payload > 0 {
			skipped := min(f.payload, uint64(len(data)))
			f.payload -= skipped
			data = data[skipped:]
			continue
		}
		f.header = append(f.header, data[0])
		data = data[1:]
		if length, whole := payloadLength(f.header); whole {
			f.payload, f.header = length, f.header[:0]
			if length > uint64(f.limit) { //nolint:gosec // limits are positive
				f.tooLarge.Store(true)
			}
		}
	}
}

// payloadLength parses a frame's header if it is complete.
func payloadLength(header []byte) (length uint64, whole bool) {
	if len(header) < 2 {
		return 0, false
	}
	size, want := uint64(header[1]&lengthMask), 2
	switch size {
	case length16:
		want += 2
	case length64:
		want += 8
	}
	extended := want
	if header[1]&maskedBit != 0 {
		want += maskKeyBytes
	}
	switch {
	case len(header) < want:
		return 0, false
	case size == length16:
		return uint64(binary.BigEndian.Uint16(header[2:extended])), true
	case size == length64:
		return binary.BigEndian.Uint64(header[2:extended]), true
	default:
		return size, true
	}
}
