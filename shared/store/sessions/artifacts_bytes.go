package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/table"
)

// inlineArtifact is how much of an artifact goes into its version's item.
// Items of up to 4 KB cost one read unit, so whoever looks for a number or
// lists versions does not pay for contents.
const inlineArtifact = 3 << 10

// errChunksGone says that what an item continues in is not there: it was
// replaced or removed while it was read, or it is lost.
var errChunksGone = errors.New("the chunks of an item are gone")

// encodeBytes is encode for what is no JSON.
func (c *codec) encodeBytes(plain []byte) ([]byte, error) {
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

func (c *codec) decodeBytes(encoded []byte) ([]byte, error) {
	if len(encoded) == 0 {
		return nil, fmt.Errorf("decode an empty artifact: %w", table.ErrUnreadable)
	}
	switch encoded[0] {
	case tagRaw:
		return encoded[1:], nil
	case tagDeflate:
		r := flate.NewReader(bytes.NewReader(encoded[1:]))
		plain, err := io.ReadAll(io.LimitReader(r, artifact.MaxSize+1))
		if err != nil {
			return nil, fmt.Errorf("decompress an artifact: %w", errors.Join(table.ErrUnreadable, err))
		}
		return plain, nil
	}
	return nil, fmt.Errorf("an artifact of an unknown encoding %d: %w", encoded[0], table.ErrUnreadable)
}

// packBytes fills in the contents of a version. The chunks stand in its own
// partition.
func (s *Store) packBytes(ctx context.Context, item *artifactItem, plain []byte) error {
	encoded, err := s.codec.encodeBytes(plain)
	if err != nil {
		return err
	}
	if item.body, err = s.packEncoded(ctx, item.PK, encoded, inlineArtifact, 0); err != nil {
		return err
	}
	if item.Blob != "" {
		item.Chunked = int64(len(encoded))
	}
	return nil
}

// unpackBytes reads the contents of a version. Chunks never change, so they
// are read at half price; what a lagging replica leaves out shows in the
// length, and then they are read again.
func (s *Store) unpackBytes(ctx context.Context, item *artifactItem) ([]byte, error) {
	encoded := item.Inline
	if item.Blob != "" {
		for _, consistent := range []bool{false, true} {
			var err error
			if encoded, err = s.readChunks(ctx, item.PK, item.Blob, consistent); err != nil {
				return nil, err
			}
			if int64(len(encoded)) == item.Chunked {
				break
			}
		}
		if int64(len(encoded)) != item.Chunked {
			return nil, errChunksGone
		}
	}
	plain, err := s.codec.decodeBytes(encoded)
	if err != nil {
		return nil, err
	}
	if int64(len(plain)) != item.Size {
		return nil, fmt.Errorf("artifact %s %s has %d bytes, not %d", item.PK, item.SK, len(plain), item.Size)
	}
	return plain, nil
}
