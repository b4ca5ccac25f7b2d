// Package demoagent is an agent for trying the system: it needs no model, and the
// same input always gets the same answer. It speaks the protocol of
// docs/agent-protocol.md and, under /v1/chat/completions, OpenAI's. The text of
// the newest user message chooses what it does; /help lists the choices.
package demoagent

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/base/retry"
)

// maxRequest limits a request, in bytes: agents receive whole histories.
const maxRequest = 64 << 20

// Options configure the demo agent.
type Options struct {
	// Pace is the pause after each word; 0 means no pause.
	Pace time.Duration
}

// New returns the demo agent. Every path except that of chat completions speaks
// the agent protocol.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", func(rw http.ResponseWriter, r *http.Request) {
		serve(rw, r, o, parseEvents, func(w *wire) protocol { return &agentProtocol{wire: w} })
	})
	mux.HandleFunc("POST /v1/chat/completions", func(rw http.ResponseWriter, r *http.Request) {
		serve(rw, r, o, parseMessages, func(w *wire) protocol { return &chatProtocol{wire: w} })
	})
	return mux
}

// question is the input of one call, whichever protocol carried it.
type question struct {
	text     string // of the newest user message
	turns    int    // user messages so far
	response string // of a tool, as JSON, if the last input is a tool's response
}

// protocol writes an answer in one protocol. Methods fail once the caller has
// disconnected.
type protocol interface {
	begin() error
	think(text string) error
	say(text string) error
	call(id, name, args string) error // id and name with the first piece alone
	state(delta map[string]json.RawMessage) error
	malformed() error
	fail(code, message string) error
	done() error
}

func serve(
	rw http.ResponseWriter, r *http.Request, o Options,
	parse func(*json.Decoder) (question, error), speak func(*wire) protocol,
) {
	q, err := parse(json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxRequest)))
	if err != nil {
		http.Error(rw, "cannot read the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	rw.Header().Set("Cache-Control", "no-store")
	w := &wire{ctx: r.Context(), rw: rw, control: http.NewResponseController(rw), pace: o.Pace}
	if w.flush() == nil {
		_ = answer(q, speak(w), w) // it fails only when the caller has disconnected
	}
}

// wire is the connection to the caller.
type wire struct {
	ctx     context.Context //nolint:containedctx // of the request that the wire is for
	rw      http.ResponseWriter
	control *http.ResponseController
	pace    time.Duration
}

func (w *wire) flush() error { return w.control.Flush() }

// send sends one server-sent event; kind may be "".
func (w *wire) send(kind, data string) error {
	var m sse.Message
	if kind != "" {
		m.Type = sse.Type(kind)
	}
	m.AppendData(data)
	if _, err := m.WriteTo(w.rw); err != nil {
		return err
	}
	return w.flush()
}

func (w *wire) sendJSON(kind string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.send(kind, string(data))
}

// pause waits for the time that one word takes.
func (w *wire) pause() error {
	if w.pace <= 0 {
		return w.ctx.Err()
	}
	return retry.Sleep(w.ctx, w.pace)
}
