// Package content encodes the contents of items and splits content that is too
// large for one item into chunks.
package content

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	fastflate "github.com/klauspost/compress/flate"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/store/table"
)

// maxDecoded is the maximum decoded size of a body: twice the largest request.
const maxDecoded = 24 << 20

// expansion is by how much decompression usually enlarges a body, or less.
const expansion = 3

// dictionary1 primes the compressor with frequent content of conversations: the
// members of events and tasks, and common words. Bodies written with it can only be
// read with it, so this file never changes; a better dictionary gets its own tag.
//
//go:embed dictionary1.txt
var dictionary1 []byte

// The first byte of a stored body identifies the encoding of the rest.
const (
	tagPlain    byte = 0
	tagDeflate1 byte = 1 // DEFLATE (RFC 1951) with dictionary1
	tagRaw      byte = 2 // bytes that are not JSON
	tagDeflate  byte = 3 // bytes that are not JSON, DEFLATE without a dictionary
)

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
	if err := decode(plain, into); err != nil {
		return fmt.Errorf("decode %T: %w", into, errors.Join(table.ErrUnreadable, err))
	}
	return nil
}

// Decoder is a value that decodes itself from valid JSON, which does not change any more.
type Decoder interface{ DecodeJSON(plain []byte) error }

func decode(plain []byte, into any) error {
	if d, ok := into.(Decoder); ok && json.Valid(plain) {
		return d.DecodeJSON(plain)
	}
	return json.Unmarshal(plain, into)
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
