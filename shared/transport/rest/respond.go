package rest

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

const jsonType = "application/json"

// reply is an answer before it is compressed and sent. A nil body sends none.
type reply struct {
	status  int
	header  http.Header
	body    []byte
	rebuilt bool   // whether a repeat under an idempotency key can rebuild the answer
	kept    []byte // the body stored under an idempotency key, if it differs
}

// jsonReply encodes an answer. HTML is not escaped, so stored content is
// returned byte for byte.
func jsonReply(status int, v any) (*reply, error) {
	body, err := jsonx.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	header := http.Header{}
	header.Set("Content-Type", jsonType)
	return &reply{status: status, header: header, body: body}, nil
}

// data is the body of sessions and events: the content under one name.
type data struct {
	Data any `json:"data"`
}

// list is data with the position of the next page.
type list struct {
	Data any  `json:"data"`
	Meta meta `json:"meta"`
}

type meta struct {
	NextCursor *string `json:"next_cursor"`
}

func noContent() *reply { return &reply{status: http.StatusNoContent, header: http.Header{}} }

// write sends an answer, compressed if the caller accepts that, or a problem if
// it exceeds the limit of a function's answer.
func (a *api) write(w http.ResponseWriter, c *call, rep *reply) {
	body, encoding, err := pack(rep.body, acceptsGzip(c.Header))
	if err != nil {
		rep = a.problem(c, err)
		body, encoding = rep.body, ""
	}
	h := w.Header()
	for name, values := range rep.header {
		h[name] = values
	}
	h.Set("X-Request-Id", c.requestID)
	if rep.body == nil {
		w.WriteHeader(rep.status)
		return
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	w.WriteHeader(rep.status)
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
