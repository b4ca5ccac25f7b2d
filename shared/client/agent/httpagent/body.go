package httpagent

import (
	"bytes"
	"io"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// body is a request whose events are encoded while they are sent: a long history is not
// in memory once more.
type body struct {
	before, after []byte // of the events
	events        []session.Event
	size          int64
}

// emptyEvents is the events of the request that body divides.
const emptyEvents = `"events":[]`

func newBody(req run.Request) (*body, error) {
	in := requestJSON{
		ProtocolVersion, req.RunID, req.SessionID, req.AppName, req.UserID, req.Agent, []byte("[]"), req.Truncated, req.State,
		continuationOf(req),
	}
	if in.State == nil {
		in.State = session.Values{}
	}
	raw, err := jsonx.Marshal(in)
	if err != nil {
		return nil, err
	}
	// Strings before the events hold no quotes that are not escaped.
	at := bytes.Index(raw, []byte(emptyEvents)) + len(emptyEvents) - len("]")
	b := &body{before: raw[:at], after: raw[at:], events: req.Events, size: int64(len(raw))}
	var scratch []byte
	for i, e := range b.events {
		scratch = appendEvent(scratch[:0], i, e)
		b.size += int64(len(scratch))
	}
	return b, nil
}

// Size implements endpoint.Body.
func (b *body) Size() int64 { return b.size }

// Reader implements endpoint.Body.
func (b *body) Reader() io.Reader { return &bodyReader{body: b, pending: b.before} }

// appendEvent appends the event with an index, after a comma.
func appendEvent(to []byte, index int, e session.Event) []byte {
	if index > 0 {
		to = append(to, ',')
	}
	return e.AppendJSON(to)
}

// bodyReader reads a body: what is before the events, the events, what is after them.
type bodyReader struct {
	body    *body
	next    int // event
	pending []byte
	buffer  []byte
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	for len(r.pending) == 0 {
		switch events := r.body.events; {
		case r.next < len(events):
			r.buffer = appendEvent(r.buffer[:0], r.next, events[r.next])
			r.pending = r.buffer
		case r.next == len(events):
			r.pending = r.body.after
		default:
			return 0, io.EOF
		}
		r.next++
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}
