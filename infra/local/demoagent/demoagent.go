// Package demoagent is an agent to try the system with: it needs no model, and
// answers the same to the same input. It speaks the protocol of
// docs/agent-protocol.md and, under /v1/chat/completions, OpenAI's. The text
// of the newest user message chooses what it does; /help lists the choices.
package demoagent

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/base/sleep"
)

// maxRequest bounds a request, in bytes: agents get whole histories.
const maxRequest = 64 << 20

// Options of the demo agent.
type Options struct {
	// Pace is the pause after each word; without it, the agent answers at once.
	Pace time.Duration
}

// New is the demo agent. Any path but that of chat completions speaks the
// protocol of agents.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", func(rw http.ResponseWriter, r *http.Request) {
		serve(rw, r, o, parseEvents, func(w *wire) voice { return &streamVoice{wire: w} })
	})
	mux.HandleFunc("POST /v1/chat/completions", func(rw http.ResponseWriter, r *http.Request) {
		serve(rw, r, o, parseMessages, func(w *wire) voice { return &chatVoice{wire: w} })
	})
	return mux
}

// question is what the agent is asked, whatever protocol brought it.
type question struct {
	text     string // of the newest user message
	turns    int    // user messages so far
	response string // of a tool, as JSON, if that is what came last
}

// voice says things in a protocol. Methods fail once the caller has gone.
type voice interface {
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
	parse func(*json.Decoder) (question, error), speak func(*wire) voice,
) {
	q, err := parse(json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxRequest)))
	if err != nil {
		http.Error(rw, "the request cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	rw.Header().Set("Cache-Control", "no-store")
	w := &wire{ctx: r.Context(), rw: rw, control: http.NewResponseController(rw), pace: o.Pace}
	if w.flush() == nil {
		_ = answer(q, speak(w), w) // it fails only when the caller has gone
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

// pause waits as long as the agent takes for a word.
func (w *wire) pause() error {
	if w.pace <= 0 {
		return w.ctx.Err()
	}
	return sleep.For(w.ctx, w.pace)
}
