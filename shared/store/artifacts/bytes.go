package artifacts

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/records"
)

// InlineArtifact is how much of an artifact is stored in its version's item. Items
// of up to 4 KB cost one read unit, so looking for a number or listing versions
// does not pay for contents.
const InlineArtifact = 3 << 10

// PackBytes sets the contents of a version. The chunks are in the version's
// partition.
func (s *Store) PackBytes(ctx context.Context, item *ArtifactItem, plain []byte) error {
	encoded, err := s.content.EncodeBytes(plain)
	if err != nil {
		return err
	}
	if item.Body, err = s.content.PackEncoded(ctx, item.PK, encoded, InlineArtifact, 0); err != nil {
		return err
	}
	if item.Blob != "" {
		item.Chunked = int64(len(encoded))
	}
	return nil
}

// unpackBytes reads the contents of a version. Chunks never change, so they are
// read with eventual consistency at half price; if a lagging replica misses some,
// the length shows it and they are read again.
func (s *Store) unpackBytes(ctx context.Context, item *ArtifactItem) ([]byte, error) {
	encoded := item.Inline
	if item.Blob != "" {
		for _, consistent := range []bool{false, true} {
			var err error
			if encoded, err = s.content.ReadChunks(ctx, item.PK, item.Blob, consistent); err != nil {
				return nil, err
			}
			if int64(len(encoded)) == item.Chunked {
				break
			}
		}
		if int64(len(encoded)) != item.Chunked {
			return nil, records.ErrChunksGone
		}
	}
	plain, err := s.content.DecodeBytes(encoded, artifact.MaxSize)
	if err != nil {
		return nil, err
	}
	if int64(len(plain)) != item.Size {
		return nil, fmt.Errorf("artifact %s %s has %d bytes, not %d", item.PK, item.SK, len(plain), item.Size)
	}
	return plain, nil
}
