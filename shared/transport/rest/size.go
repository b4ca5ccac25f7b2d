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
	// answerLimit is how much a body may take of a function's answer: 6 MB
	// less room for headers and the envelope.
	answerLimit = 6<<20 - 64<<10
	// minGzip is the smallest body that compression is worth the time for.
	minGzip = 1 << 10
)

// acceptsGzip reads Accept-Encoding; a coding of weight 0 is refused.
func acceptsGzip(h http.Header) bool {
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

func compress(body []byte) ([]byte, error) {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := zw.Write(body); err != nil {
		return nil, fmt.Errorf("compress the answer: %w", err)
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("compress the answer: %w", err)
	}
	return buf.Bytes(), nil
}

// encodedSize is what a body takes in a function's answer: anything large or
// compressed is sent to the gateway in base64.
func encodedSize(b []byte) int { return base64.StdEncoding.EncodedLen(len(b)) }
