package rest

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// JSONType is the media type of most answers.
const JSONType = "application/json"

// Reply is an answer before it is compressed and sent. A nil body sends none.
type Reply struct {
	Status  int
	Header  http.Header
	Body    []byte
	Rebuilt bool   // whether a repeat under an idempotency key can rebuild the answer
	Kept    []byte // the body stored under an idempotency key, if it differs
}

// JSON encodes an answer. HTML is not escaped, so stored content is
// returned byte for byte.
func JSON(status int, v any) (*Reply, error) {
	body, err := jsonx.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	header := http.Header{}
	header.Set("Content-Type", JSONType)
	return &Reply{Status: status, Header: header, Body: body}, nil
}

// Data is the body of sessions and events: the content under one name.
type Data struct {
	Data any `json:"data"`
}

// List is data with the position of the next page.
type List struct {
	Data any  `json:"data"`
	Meta Meta `json:"meta"`
}

// Meta is what a page says beside its items.
type Meta struct {
	NextCursor *string `json:"next_cursor"`
}

// NoContent is an answer without a body.
func NoContent() *Reply { return &Reply{Status: http.StatusNoContent, Header: http.Header{}} }

// Write sends an answer, compressed if the caller accepts that, or a problem if
// it exceeds the limit of a function's answer.
func (a *API) Write(w http.ResponseWriter, c *Call, rep *Reply) {
	body, encoding, err := pack(rep.Body, AcceptsGzip(c.Header))
	if err != nil {
		rep = a.Problem(c, err)
		body, encoding = rep.Body, ""
	}
	h := w.Header()
	for name, values := range rep.Header {
		h[name] = values
	}
	h.Set("X-Request-Id", c.RequestID)
	if rep.Body == nil {
		w.WriteHeader(rep.Status)
		return
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	w.WriteHeader(rep.Status)
	if _, err := w.Write(body); err != nil { //nolint:gosec // JSON, or a file sent with nosniff; never a caller's HTML
		a.Log.WarnContext(c.Context(), "an answer was not sent", "error", err)
	}
}

// pack encodes a body as it is sent.
func pack(body []byte, gzipAccepted bool) (packed []byte, encoding string, err error) {
	if gzipAccepted && len(body) >= minGzip {
		packed, err := compress(body)
		if err != nil {
			return nil, "", err
		}
		if encodedSize(packed) <= answerLimit {
			return packed, "gzip", nil
		}
		return nil, "", fault.New(fault.AnswerTooLarge,
			"the answer is larger than 6 MB even as gzip; ask for a smaller page with limit")
	}
	if encodedSize(body) <= answerLimit {
		return body, "", nil
	}
	packed, err = compress(body)
	if err != nil {
		return nil, "", err
	}
	if encodedSize(packed) <= answerLimit {
		return nil, "", fault.New(fault.AnswerTooLarge, "the answer is larger than 6 MB; "+
			"ask for it with Accept-Encoding: gzip, or for a smaller page with limit")
	}
	return nil, "", fault.New(fault.AnswerTooLarge, "the answer is larger than 6 MB, as gzip too; "+
		"ask for a smaller page with limit")
}

// EmptyIfNil returns a list that encodes as an array, never as null.
func EmptyIfNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
