package content

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/rethread/rethread/shared/store/table"
)

// EncodeBytes is Encode for content that is not JSON.
func (*Codec) EncodeBytes(plain []byte) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte(tagDeflate)
	w, err := flate.NewWriter(&buf, flate.DefaultCompression)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if buf.Len() <= len(plain) {
		return buf.Bytes(), nil
	}
	return append([]byte{tagRaw}, plain...), nil
}

// DecodeBytes decodes the output of EncodeBytes up to most+1 bytes; the extra byte
// shows that there are more. Any other input returns table.ErrUnreadable.
func (*Codec) DecodeBytes(encoded []byte, most int64) ([]byte, error) {
	if len(encoded) == 0 {
		return nil, fmt.Errorf("decode empty bytes: %w", table.ErrUnreadable)
	}
	switch encoded[0] {
	case tagRaw:
		return encoded[1:], nil
	case tagDeflate:
		r := flate.NewReader(bytes.NewReader(encoded[1:]))
		plain, err := io.ReadAll(io.LimitReader(r, most+1))
		if err != nil {
			return nil, fmt.Errorf("decompress bytes: %w", errors.Join(table.ErrUnreadable, err))
		}
		return plain, nil
	}
	return nil, fmt.Errorf("bytes of an unknown encoding %d: %w", encoded[0], table.ErrUnreadable)
}
