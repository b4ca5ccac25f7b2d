package content

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// ChunkBytes is how much of a body one item holds: the 400 KB of an item less room
// for its keys and other attributes.
const ChunkBytes = 380 << 10

// Body is the encoded content of an item. Content that does not fit continues in
// chunk items of a blob, written before the item that refers to them: that item's
// conditional write makes all of it visible at once. Chunks whose item is never
// written stay invisible and are deleted with their partition.
type Body struct {
	Inline []byte `dynamodbav:"b,omitempty"`
	Blob   string `dynamodbav:"x,omitempty"`
	Large  int64  `dynamodbav:"xs,omitempty"` // bytes in the chunks
}

// Stored returns the approximate size of the body in bytes.
func (b Body) Stored() int64 { return int64(len(b.Inline)) + b.Large }

// ErrChunksGone says that an item's chunks are missing: they were replaced or
// removed during the read, or are lost.
var ErrChunksGone = errors.New("the chunks of an item are gone")

// prefixChunk is the prefix of the sort keys of chunks: B#blob#number.
const prefixChunk = "B#"

// IsChunk reports whether a sort key is that of a chunk.
func IsChunk(sk string) bool { return strings.HasPrefix(sk, prefixChunk) }

func blobPrefix(id string) string { return prefixChunk + id + "#" }

// Bodies packs and unpacks the contents of items and their chunks.
type Bodies struct {
	*Codec
	base records.Base
}

// NewBodies returns the bodies of a table. Callers share a codec, because its
// compressors take much memory.
func NewBodies(base records.Base, codec *Codec) Bodies { return Bodies{Codec: codec, base: base} }

type chunk struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Bytes   []byte `dynamodbav:"b"`
	Expires int64  `dynamodbav:"expires,omitempty"`
}

// Pack encodes a value as a body of the partition pk. If expires (epoch seconds) is
// not 0, chunks expire then, like their item.
func (b Bodies) Pack(ctx context.Context, pk string, v any, expires int64) (Body, error) {
	encoded, err := b.Encode(v)
	if err != nil {
		return Body{}, err
	}
	return b.PackEncoded(ctx, pk, encoded, ChunkBytes, expires)
}

// PackEncoded is Pack for encoded content; content larger than inline bytes goes
// into chunks.
func (b Bodies) PackEncoded(ctx context.Context, pk string, encoded []byte, inline int, expires int64) (Body, error) {
	if len(encoded) <= inline {
		return Body{Inline: encoded}, nil
	}
	out := Body{Blob: b.base.Random().String(), Large: int64(len(encoded))}
	return out, b.WriteChunks(ctx, pk, out.Blob, encoded, expires)
}

// WriteChunks writes the content of a blob.
func (b Bodies) WriteChunks(ctx context.Context, pk, blob string, encoded []byte, expires int64) error {
	var writes []table.Write
	for i := 0; len(encoded) > 0; i++ {
		n := min(ChunkBytes, len(encoded))
		writes = append(writes, table.Put(chunk{
			PK: pk, SK: fmt.Sprintf("%s%04d", blobPrefix(blob), i), Bytes: encoded[:n], Expires: expires,
		}))
		encoded = encoded[n:]
	}
	if err := b.base.DB.BatchWrite(ctx, writes); err != nil {
		return fmt.Errorf("write chunks: %w", err)
	}
	return nil
}

// Unpack decodes a body of the partition pk.
func (b Bodies) Unpack(ctx context.Context, pk string, body Body, into any) error {
	if body.Blob == "" {
		return b.Decode(body.Inline, into)
	}
	// Chunks never change, so a read with eventual consistency, at half the price, is
	// either complete or too short.
	encoded, err := b.ReadChunks(ctx, pk, body.Blob, false)
	if err == nil && int64(len(encoded)) != body.Large {
		encoded, err = b.ReadChunks(ctx, pk, body.Blob, true)
	}
	if err != nil {
		return err
	}
	if len(encoded) == 0 {
		return ErrChunksGone
	}
	return b.Decode(encoded, into)
}

// ReadChunks reads the content of a blob, in order.
func (b Bodies) ReadChunks(ctx context.Context, pk, blob string, consistent bool) ([]byte, error) {
	var encoded []byte
	err := b.base.DB.Pages(ctx, records.Prefix(pk, blobPrefix(blob), consistent), func(page []table.Item) (bool, error) {
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

// Discard removes the chunks of a body that nothing refers to any more.
func (b Bodies) Discard(ctx context.Context, pk string, body Body) error {
	if body.Blob == "" {
		return nil
	}
	return b.base.DB.DeleteFound(ctx, records.KeysOnly(records.Prefix(pk, blobPrefix(body.Blob), false)))
}
