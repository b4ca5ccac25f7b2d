package a2a

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/tmaxmax/go-sse"
)

// early holds the head of a stream back until its first event. A call that
// fails before it has anything to tell is answered as a plain error, which
// clients need no parser of streams to see.
type early struct {
	http.ResponseWriter

	status  int
	pending bool // a stream whose first event has not come
	held    bytes.Buffer
	muted   bool // the error was written
}

func newEarly(w http.ResponseWriter) *early { return &early{ResponseWriter: w} }

// WriteHeader implements http.ResponseWriter.
func (e *early) WriteHeader(status int) {
	if e.Header().Get("Content-Type") == "text/event-stream" && e.status == 0 {
		e.status, e.pending = status, true
		return
	}
	e.status = status
	e.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (e *early) Write(text []byte) (int, error) {
	switch {
	case e.muted:
		return len(text), nil
	case !e.pending:
		return e.ResponseWriter.Write(text)
	}
	e.held.Write(text)
	return len(text), nil
}

// Flush implements http.Flusher.
func (e *early) Flush() {
	if e.muted {
		return
	}
	if e.pending && !e.begin() {
		return
	}
	if f, ok := e.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// begin writes what was held: the stream's head and its first event, or the
// error that the event is; false then.
func (e *early) begin() bool {
	e.pending = false
	if body, status := failure(e.held.Bytes()); body != nil {
		e.muted = true
		header := e.Header()
		header.Set("Content-Type", "application/json")
		for _, name := range []string{"Connection", "X-Accel-Buffering"} {
			header.Del(name)
		}
		e.ResponseWriter.WriteHeader(status)
		_, _ = e.ResponseWriter.Write(body) // a caller that is gone needs no answer
		return false
	}
	e.ResponseWriter.WriteHeader(e.status)
	_, _ = e.ResponseWriter.Write(e.held.Bytes()) // the next write fails too
	return true
}

// close writes what a stream without any event held.
func (e *early) close() {
	if e.pending {
		e.begin()
	}
}

// failure is the error that an event consists of, and the status to answer it
// with; nil for any other event.
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
