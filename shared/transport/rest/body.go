package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// MaxBody is the most bytes that most bodies may have.
const MaxBody = 10 << 20

// WithBody reads the body before it calls the endpoint; it must be JSON of at
// most limit bytes after decompression.
func WithBody(limit int, e Endpoint) Endpoint { return reading(limit, nil, e) }

// WithOptionalBody is WithBody for endpoints without required members: an
// absent body counts as an empty object.
func WithOptionalBody(limit int, e Endpoint) Endpoint { return reading(limit, []byte("{}"), e) }

func reading(limit int, absent []byte, e Endpoint) Endpoint {
	return func(c *Call) (*Reply, error) {
		if err := checkContentType(c.Header); err != nil {
			return nil, err
		}
		body, err := ReadBody(c.Request, limit)
		if err != nil {
			return nil, err
		}
		if absent != nil && len(bytes.TrimSpace(body)) == 0 {
			body = absent
		}
		if err := checkJSON(body); err != nil {
			return nil, err
		}
		c.JSON = body
		return e(c)
	}
}

func checkContentType(h http.Header) error {
	given := h.Get("Content-Type")
	if given == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(given)
	if media == "application/x-www-form-urlencoded" {
		return nil // the default of curl -d; checkJSON decides
	}
	if err != nil || media != JSONType && !strings.HasSuffix(media, "+json") {
		return fault.Field(fault.Malformed, "Content-Type", "must be %s", JSONType)
	}
	return nil
}

// ReadBody reads a body of at most limit bytes after decompression.
func ReadBody(r *http.Request, limit int) ([]byte, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ",")))
	switch coding {
	case "", "identity":
		return readAtMost(r.Body, limit)
	case "gzip", "x-gzip":
	default:
		return nil, fault.Field(fault.Malformed, "Content-Encoding", "must be gzip or absent")
	}
	zr, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, notGzip()
	}
	body, err := readAtMost(zr, limit)
	if err != nil && !errors.Is(err, fault.Of(fault.TooLarge)) {
		return nil, notGzip()
	}
	return body, err
}

func notGzip() error { return fault.New(fault.Malformed, "the body is not valid gzip") }

func readAtMost(r io.Reader, limit int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if len(body) > limit {
		return nil, tooLarge(limit)
	}
	return body, nil
}

func tooLarge(limit int) error {
	return fault.New(fault.BodyTooLarge, "the body is larger than %d MB, decompressed", limit>>20)
}

// checkJSON refuses a body that is not one JSON value in UTF-8, and names the
// offending byte.
func checkJSON(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return fault.New(fault.Malformed, "a JSON body is required")
	}
	if !utf8.Valid(body) {
		return fault.New(fault.Malformed, "the body is not valid UTF-8 at byte %d", invalidAt(body))
	}
	var raw json.RawMessage
	err := json.Unmarshal(body, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fault.New(fault.Malformed, "the body is not valid JSON at byte %d: %s", syntax.Offset, unexpected(body, syntax.Offset))
	}
	if err != nil {
		return err
	}
	if flaw := jsonx.Check(body); flaw != nil {
		return Malformed(flaw.Pointer, flaw.Reason)
	}
	return nil
}

// unexpected describes the byte at which the body is not JSON, counted from 1.
func unexpected(body []byte, at int64) string {
	err := json.NewDecoder(bytes.NewReader(body)).Decode(new(json.RawMessage))
	if errors.Is(err, io.ErrUnexpectedEOF) || at < 1 || at > int64(len(body)) {
		return "it ends too early"
	}
	return fmt.Sprintf("%q must not stand there", body[at-1])
}

func invalidAt(body []byte) int {
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(body)
}
