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
)

// acceptsGzip reads Accept-Encoding; weight 0 refuses a coding.
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

// encodedSize returns the size of a body in a function's answer: large or
// compressed bodies are sent to the gateway in base64.
func encodedSize(b []byte) int { return base64.StdEncoding.EncodedLen(len(b)) }
