package mcp

import (
	"bytes"
	"encoding/base64"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
)

// answerLimit bounds a body in a function's answer, in bytes: 6 MB less the headers and
// the envelope. The gateway gets larger bodies in base64.
const answerLimit = 6<<20 - 64<<10

// buffer keeps an answer until its size is known.
type buffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (b *buffer) Header() http.Header { return b.header }

// WriteHeader implements http.ResponseWriter.
func (b *buffer) WriteHeader(status int) {
	if b.status == 0 {
		b.status = status
	}
}

// Write implements http.ResponseWriter.
func (b *buffer) Write(p []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.body.Write(p)
}

// Flush implements http.Flusher: there is nothing to stream.
func (b *buffer) Flush() {}

// send sends the answer, or why it cannot be sent.
func (b *buffer) send(w http.ResponseWriter) {
	if base64.StdEncoding.EncodedLen(b.body.Len()) > answerLimit {
		problem.New(fault.New(fault.AnswerTooLarge, "the answer is larger than 6 MB: ask for less with limit or max_bytes"), "").Write(w)
		return
	}
	if b.status == 0 {
		b.status = http.StatusOK
	}
	w.WriteHeader(b.status)
	_, _ = w.Write(b.body.Bytes()) // the caller may have left
}
