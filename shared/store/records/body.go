package records

import (
	"bytes"
	"compress/flate"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	fastflate "github.com/klauspost/compress/flate"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/store/table"
)

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

// Bodies packs and unpacks the contents of items and their chunks.
type Bodies struct {
	*Codec
	base Base
}

// NewBodies returns the bodies of a table. Callers share a codec, because its
// compressors take much memory.
func NewBodies(base Base, codec *Codec) Bodies { return Bodies{Codec: codec, base: base} }

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

// ChunkBytes is how much of a body one item holds: the 400 KB of an item less room
// for its keys and other attributes.
const ChunkBytes = 380 << 10

type chunk struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Bytes   []byte `dynamodbav:"b"`
	Expires int64  `dynamodbav:"expires,omitempty"`
}

// prefixChunk is the prefix of the sort keys of chunks: B#blob#number.
const prefixChunk = "B#"

func blobPrefix(id string) string { return prefixChunk + id + "#" }

// IsChunk reports whether a sort key is that of a chunk.
func IsChunk(sk string) bool { return strings.HasPrefix(sk, prefixChunk) }

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
	err := b.base.DB.Pages(ctx, Prefix(pk, blobPrefix(blob), consistent), func(page []table.Item) (bool, error) {
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

// ErrChunksGone says that an item's chunks are missing: they were replaced or
// removed during the read, or are lost.
var ErrChunksGone = errors.New("the chunks of an item are gone")

// Discard removes the chunks of a body that nothing refers to any more.
func (b Bodies) Discard(ctx context.Context, pk string, body Body) error {
	if body.Blob == "" {
		return nil
	}
	return b.base.DB.DeleteFound(ctx, KeysOnly(Prefix(pk, blobPrefix(body.Blob), false)))
}

// The first byte of a stored body identifies the encoding of the rest.
const (
	tagPlain    byte = 0
	tagDeflate1 byte = 1 // DEFLATE (RFC 1951) with dictionary1
	tagRaw      byte = 2 // bytes that are not JSON
	tagDeflate  byte = 3 // bytes that are not JSON, DEFLATE without a dictionary
)

// dictionary1 primes the compressor with frequent content of conversations: the
// members of events and tasks, and common words. Bodies written with it can only be
// read with it, so this file never changes; a better dictionary gets its own tag.
//
//go:embed dictionary1.txt
var dictionary1 []byte

// Codec encodes JSON as the bytes of an item and back. It compresses bodies if that
// makes them shorter, since items are charged by the kilobyte.
//
// A codec keeps its compressors, of about a megabyte each, and its decompressors for
// the next bodies. The standard library compresses better, the other one decompresses
// faster.
type Codec struct{ writers, readers sync.Pool }

// NewCodec returns a codec. It is safe for concurrent use.
func NewCodec() *Codec {
	var c Codec
	c.writers.New = func() any {
		w, err := flate.NewWriterDict(io.Discard, flate.BestCompression, dictionary1)
		if err != nil {
			panic(fmt.Sprintf("a constant compression level: %v", err))
		}
		return w
	}
	c.readers.New = func() any { return fastflate.NewReader(nil) }
	return &c
}

// Encode encodes a value, by way of JSON, as the bytes of an item.
func (c *Codec) Encode(v any) ([]byte, error) {
	plain, err := jsonx.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	w, ok := c.writers.Get().(*flate.Writer)
	if !ok {
		return nil, errors.New("the pool of compressors holds something else")
	}
	defer c.writers.Put(w)
	var buf bytes.Buffer
	buf.WriteByte(tagDeflate1)
	w.Reset(&buf)
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if buf.Len() <= len(plain) {
		return buf.Bytes(), nil
	}
	return append([]byte{tagPlain}, plain...), nil
}

// Decode decodes the output of Encode. Any other input returns table.ErrUnreadable.
func (c *Codec) Decode(body []byte, into any) error {
	if len(body) == 0 {
		return fmt.Errorf("decode an empty body: %w", table.ErrUnreadable)
	}
	plain := body[1:]
	switch body[0] {
	case tagPlain:
	case tagDeflate1:
		out, err := c.inflate(plain)
		if err != nil {
			return fmt.Errorf("decompress a body: %w", errors.Join(table.ErrUnreadable, err))
		}
		plain = out
	default:
		return fmt.Errorf("a body of an unknown encoding %d: %w", body[0], table.ErrUnreadable)
	}
	if err := decodeJSON(plain, into); err != nil {
		return fmt.Errorf("decode %T: %w", into, errors.Join(table.ErrUnreadable, err))
	}
	return nil
}

// inflate decompresses up to maxDecoded bytes.
func (c *Codec) inflate(body []byte) ([]byte, error) {
	r, ok := c.readers.Get().(interface {
		io.Reader
		fastflate.Resetter
	})
	if !ok {
		return nil, errors.New("the pool of decompressors holds something else")
	}
	defer c.readers.Put(r)
	if err := r.Reset(bytes.NewReader(body), dictionary1); err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, expansion*len(body)+bytes.MinRead))
	_, err := out.ReadFrom(io.LimitReader(r, maxDecoded))
	return out.Bytes(), err
}

// maxDecoded is the maximum decoded size of a body: twice the largest request.
const maxDecoded = 24 << 20

// expansion is by how much decompression usually enlarges a body, or less.
const expansion = 3

// Decoder is a value that decodes itself from valid JSON, which does not change any more.
type Decoder interface{ DecodeJSON(plain []byte) error }

func decodeJSON(plain []byte, into any) error {
	if d, ok := into.(Decoder); ok && json.Valid(plain) {
		return d.DecodeJSON(plain)
	}
	return json.Unmarshal(plain, into)
}

// EncodeBytes is Encode for content that is not JSON.
func (*Codec) EncodeBytes(plain []byte) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte(tagDeflate)
	w, err := fastflate.NewWriter(&buf, fastflate.DefaultCompression)
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
		r := fastflate.NewReader(bytes.NewReader(encoded[1:]))
		plain, err := io.ReadAll(io.LimitReader(r, most+1))
		if err != nil {
			return nil, fmt.Errorf("decompress bytes: %w", errors.Join(table.ErrUnreadable, err))
		}
		return plain, nil
	}
	return nil, fmt.Errorf("bytes of an unknown encoding %d: %w", encoded[0], table.ErrUnreadable)
}
