package frontend

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Sender writes events as server-sent events, and comments while there are none. Its
// methods can be called at the same time.
type Sender struct {
	w       http.ResponseWriter
	stop    context.CancelFunc
	done    sync.WaitGroup
	comment []byte

	mu    sync.Mutex
	begun bool
	err   error // of the first write that failed
}

// NewSender begins a stream. Close ends its comments.
func NewSender(ctx context.Context, w http.ResponseWriter, keepAlive time.Duration) *Sender {
	return newSender(ctx, w, keepAlive, "text/event-stream", ": keep-alive\n\n")
}

// NewWaiter begins an answer whose only value, in JSON, is sent later. White space keeps
// the connection alive until then; it fixes the status 200.
func NewWaiter(ctx context.Context, w http.ResponseWriter, keepAlive time.Duration) *Sender {
	return newSender(ctx, w, keepAlive, "application/json", "\n")
}

func newSender(ctx context.Context, w http.ResponseWriter, keepAlive time.Duration, mediaType, comment string) *Sender {
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	ctx, stop := context.WithCancel(ctx)
	s := &Sender{w: w, stop: stop, comment: []byte(comment)}
	s.done.Go(func() {
		tick := time.NewTicker(keepAlive)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.write(s.comment)
			case <-ctx.Done():
				return
			}
		}
	})
	return s
}

// Close ends the comments.
func (s *Sender) Close() {
	s.stop()
	s.done.Wait()
}

// Send sends each event as JSON.
func (s *Sender) Send(events ...any) {
	for _, e := range events {
		raw, err := jsonx.Marshal(e)
		if err != nil {
			s.fail(err)
			return
		}
		s.write(append(append([]byte("data: "), jsonx.Line(raw)...), "\n\n"...))
	}
}

// SendNamed sends an event as JSON, with a name.
func (s *Sender) SendNamed(name string, event any) {
	raw, err := jsonx.Marshal(event)
	if err != nil {
		s.fail(err)
		return
	}
	s.write(append(append([]byte("event: "+name+"\ndata: "), jsonx.Line(raw)...), "\n\n"...))
}

// SendValue sends the only value of an answer.
func (s *Sender) SendValue(value any) {
	raw, err := jsonx.Marshal(value)
	if err != nil {
		s.fail(err)
		return
	}
	s.write(raw)
}

// Begun reports whether anything was sent, which fixes the status.
func (s *Sender) Begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// Done sends the text by which some protocols end a stream.
func (s *Sender) Done() { s.write([]byte("data: [DONE]\n\n")) }

func (s *Sender) write(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.begun = true
	if _, s.err = s.w.Write(text); s.err != nil {
		return
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (s *Sender) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// Left reports whether the reader has left.
func (s *Sender) Left() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}
