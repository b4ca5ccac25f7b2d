package records_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// A codec uses its compressors and decompressors again, after failures too.
func TestCodecIsReused(t *testing.T) {
	t.Parallel()
	const workers, rounds = 4, 50
	codec := records.NewCodec()
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for round := range rounds {
				if err := roundTrip(codec, strings.Repeat(fmt.Sprint("worker ", worker, " "), 1+round)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// roundTrip encodes and decodes a text, after it has failed to decode a part of it.
func roundTrip(codec *records.Codec, text string) error {
	encoded, err := codec.Encode(text)
	if err != nil {
		return err
	}
	var got string
	if err := codec.Decode(encoded[:len(encoded)/2], &got); !errors.Is(err, table.ErrUnreadable) {
		return fmt.Errorf("half of a body is decoded as %q, %w", got, err)
	}
	if err := codec.Decode(encoded, &got); err != nil {
		return err
	}
	if got != text {
		return fmt.Errorf("%q is decoded as %q", text, got)
	}
	return nil
}

// A decoded body takes little more memory than its content: the window of the
// decompressor, of 32 KB, is not allocated again.
func TestDecodeAllocatesLittle(t *testing.T) {
	const rounds, most = 1000, 16 << 10
	codec := records.NewCodec()
	body, err := codec.Encode(strings.Repeat("content ", 20))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		var got string
		if err := codec.Decode(body, &got); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / rounds; got > most {
		t.Errorf("decoding a body of %d bytes allocates %d bytes, want up to %d", len(body), got, most)
	}
}
