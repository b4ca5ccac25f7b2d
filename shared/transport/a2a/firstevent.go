package a2a

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/tmaxmax/go-sse"
)

// firstEventWriter holds the head of a stream back until its first event. A
// call that fails before any event is answered with a plain error, which
// clients can read without a parser of streams.
type firstEventWriter struct {
	http.ResponseWriter

	status  int
	pending bool // a stream without its first event
	held    bytes.Buffer
	muted   bool // the error was written
}

func newFirstEventWriter(w http.ResponseWriter) *firstEventWriter {
	return &firstEventWriter{ResponseWriter: w}
}

// WriteHeader implements http.ResponseWriter.
func (w *firstEventWriter) WriteHeader(status int) {
	if w.Header().Get("Content-Type") == "text/event-stream" && w.status == 0 {
		w.status, w.pending = status, true
		return
	}
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *firstEventWriter) Write(text []byte) (int, error) {
	switch {
	case w.muted:
		return len(text), nil
	case !w.pending:
		return w.ResponseWriter.Write(text)
	}
	w.held.Write(text)
	return len(text), nil
}

// Flush implements http.Flusher.
func (w *firstEventWriter) Flush() {
	if w.muted {
		return
	}
	if w.pending && !w.begin() {
		return
	}
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// begin writes what was held: the stream's head and first event, or a plain
// answer if that event is an error; false then.
func (w *firstEventWriter) begin() bool {
	w.pending = false
	if body, status := failure(w.held.Bytes()); body != nil {
		w.muted = true
		header := w.Header()
		header.Set("Content-Type", "application/json")
		for _, name := range []string{"Connection", "X-Accel-Buffering"} {
			header.Del(name)
		}
		w.ResponseWriter.WriteHeader(status)
		_, _ = w.ResponseWriter.Write(body) // the caller may have left
		return false
	}
	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(w.held.Bytes()) // the next write fails too
	return true
}

// close writes the head of a stream that had no event.
func (w *firstEventWriter) close() {
	if w.pending {
		w.begin()
	}
}

// failure returns the error that an event consists of, and the status to answer
// it with; nil for any other event.
func failure(event []byte) (body []byte, status int) {
	var data []byte
	for e, err := range sse.Read(bytes.NewReader(event), &sse.ReadConfig{MaxEventSize: len(event) + 1}) {
		if err != nil {
			return nil, 0
		}
		data = []byte(e.Data)
		break
	}
	var answer struct {
		Version string `json:"jsonrpc"`
		Error   *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(data, &answer) != nil || answer.Error == nil {
		return nil, 0
	}
	if code := answer.Error.Code; answer.Version == "" && code >= 400 && code < 600 {
		return data, code
	}
	return data, http.StatusOK
}
