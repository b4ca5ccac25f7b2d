package rest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const (
	// answerLimit bounds a body in a function's answer: 6 MB less the headers
	// and the envelope.
	answerLimit = 6<<20 - 64<<10
	// minGzip is the smallest body worth compressing.
	minGzip = 1 << 10
	// minRepacked is the smallest body that is compressed again if the fast level
	// leaves half of it. The better level takes 10 ms for each megabyte.
	minRepacked   = 64 << 10
	repackedLevel = 7
)

// AcceptsGzip reads Accept-Encoding; weight 0 refuses a coding.
func AcceptsGzip(h http.Header) bool {
	accepted := false
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		coding, params, _ := strings.Cut(part, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		if coding != "gzip" && coding != "x-gzip" && coding != "*" {
			continue
		}
		accepted = weight(params) > 0
		if coding != "*" {
			return accepted
		}
	}
	return accepted
}

func weight(params string) float64 {
	value, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q=")
	if !ok {
		return 1
	}
	q, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0
	}
	return q
}

// compress packs a body as gzip. Of a photo in base64 the fast level saves nothing, as
// it looks for repetitions; a better one saves the quarter that its characters leave.
func compress(body []byte) ([]byte, error) {
	packed, err := compressAt(body, gzip.DefaultCompression)
	if err != nil || len(body) < minRepacked || len(packed) < len(body)/2 {
		return packed, err
	}
	return compressAt(body, repackedLevel)
}

func compressAt(body []byte, level int) ([]byte, error) {
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, level)
	if err != nil {
		return nil, fmt.Errorf("compress the answer: %w", err)
	}
	if _, err := zw.Write(body); err != nil {
		return nil, fmt.Errorf("compress the answer: %w", err)
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("compress the answer: %w", err)
	}
	return buf.Bytes(), nil
}

// encodedSize returns the size of a body in a function's answer: large or
// compressed bodies are sent to the gateway in base64.
func encodedSize(b []byte) int { return base64.StdEncoding.EncodedLen(len(b)) }
