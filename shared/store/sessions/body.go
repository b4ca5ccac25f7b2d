package sessions

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/table"
)

// chunkBytes is how much of a body one item holds: an item's 400 KB less room
// for its keys and other attributes.
const chunkBytes = 380 << 10

// body is the encoded content of an item. What does not fit continues in chunk
// items under a name of its own, written before the item that refers to them:
// that item's conditional write makes all of it visible at once. Chunks whose
// item never came stay unseen and go with their partition.
type body struct {
	Inline []byte `dynamodbav:"b,omitempty"`
	Blob   string `dynamodbav:"x,omitempty"`
	Large  int64  `dynamodbav:"xs,omitempty"` // bytes in the chunks
}

type chunk struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Bytes   []byte `dynamodbav:"b"`
	Expires int64  `dynamodbav:"expires,omitempty"`
}

// pack encodes a value into a body of the partition pk. Chunks expire with the
// item where expires (epoch seconds) is not 0.
func (s *Store) pack(ctx context.Context, pk string, v any, expires int64) (body, error) {
	encoded, err := s.codec.encode(v)
	if err != nil {
		return body{}, err
	}
	return s.packEncoded(ctx, pk, encoded, chunkBytes, expires)
}

// packEncoded is pack for what is encoded already; what is larger than inline
// bytes goes into chunks.
func (s *Store) packEncoded(ctx context.Context, pk string, encoded []byte, inline int, expires int64) (body, error) {
	if len(encoded) <= inline {
		return body{Inline: encoded}, nil
	}
	b := body{Blob: s.random().String(), Large: int64(len(encoded))}
	return b, s.writeChunks(ctx, pk, b.Blob, encoded, expires)
}

// writeChunks writes what a blob is to hold.
func (s *Store) writeChunks(ctx context.Context, pk, blob string, encoded []byte, expires int64) error {
	var writes []table.Write
	for i := 0; len(encoded) > 0; i++ {
		n := min(chunkBytes, len(encoded))
		writes = append(writes, table.Put(chunk{
			PK: pk, SK: fmt.Sprintf("%s%04d", blobPrefix(blob), i), Bytes: encoded[:n], Expires: expires,
		}))
		encoded = encoded[n:]
	}
	if err := s.db.BatchWrite(ctx, writes); err != nil {
		return fmt.Errorf("write chunks: %w", err)
	}
	return nil
}

// unpack decodes a body of the partition pk.
func (s *Store) unpack(ctx context.Context, pk string, b body, into any) error {
	if b.Blob == "" {
		return s.codec.decode(b.Inline, into)
	}
	encoded, err := s.readChunks(ctx, pk, b.Blob, true)
	if err != nil {
		return err
	}
	if len(encoded) == 0 {
		return errChunksGone
	}
	return s.codec.decode(encoded, into)
}

// readChunks reads what a blob holds, in order.
func (s *Store) readChunks(ctx context.Context, pk, blob string, consistent bool) ([]byte, error) {
	var encoded []byte
	err := s.db.Pages(ctx, prefixQuery(pk, blobPrefix(blob), consistent), func(page []table.Item) (bool, error) {
		for _, item := range page {
			var c chunk
			if err := table.Decode(item, &c); err != nil {
				return false, fmt.Errorf("unmarshal a chunk: %w", err)
			}
			encoded = append(encoded, c.Bytes...)
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	return encoded, nil
}

// discard removes the chunks of a body that nothing refers to any more.
func (s *Store) discard(ctx context.Context, pk string, b body) error {
	if b.Blob == "" {
		return nil
	}
	return s.db.DeleteFound(ctx, keysOnly(prefixQuery(pk, blobPrefix(b.Blob), false)))
}
