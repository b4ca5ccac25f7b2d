package sse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/watch"
)

// forward passes on what a source brings. It returns nil where the source broke
// and another may go on.
func (s *stream) forward(ctx context.Context, from *source) error {
	ctx, cancel := context.WithCancel(ctx)
	frames := make(chan frame)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(frames)
		s.receive(ctx, from, frames)
	})
	running.Go(func() {
		defer cancel() // a connection that gives no answer is as good as closed
		s.keepAlive(ctx, from)
	})
	defer running.Wait()
	defer cancel()
	for _, f := range from.early {
		if err := s.pass(f); err != nil {
			return err
		}
	}
	silent := time.NewTicker(s.Heartbeat)
	defer silent.Stop()
	for {
		select {
		case f, ok := <-frames:
			if !ok {
				return nil
			}
			if err := s.pass(f); err != nil {
				return err
			}
			silent.Reset(s.Heartbeat)
		case <-silent.C:
			if err := s.write([]byte(": ping\n\n")); err != nil {
				return err
			}
		}
	}
}

// receive reads messages about the session until the source ends.
func (s *stream) receive(ctx context.Context, from *source, into chan<- frame) {
	for {
		f, err := from.read(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.log.InfoContext(ctx, "the websocket broke", "error", err)
			}
			return
		}
		if !f.about(s.sessionID) {
			continue
		}
		select {
		case into <- f:
		case <-ctx.Done():
			return
		}
	}
}

// keepAlive pings the source until it gives no answer or ctx ends: a gateway
// closes connections that are silent for ten minutes.
func (s *stream) keepAlive(ctx context.Context, from *source) {
	every := time.NewTicker(s.Keepalive)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		if err := s.ping(ctx, from); err != nil {
			return
		}
	}
}

func (s *stream) ping(ctx context.Context, from *source) error {
	ctx, cancel := context.WithTimeout(ctx, s.Answer)
	defer cancel()
	return from.conn.Ping(ctx)
}

// pass passes on one message, as an event whose id is where to go on.
func (s *stream) pass(f frame) error {
	s.place.pass(f)
	var text bytes.Buffer
	if at, ok := s.place.cursor(); ok {
		fmt.Fprintf(&text, "id: %s\n", at)
	}
	fmt.Fprintf(&text, "event: %s\ndata: ", f.Type)
	if err := json.Compact(&text, f.text); err != nil { // a line break would end the event
		return fmt.Errorf("compact a message: %w", err)
	}
	text.WriteString("\n\n")
	if err := s.write(text.Bytes()); err != nil {
		return err
	}
	if watch.Type(f.Type) == watch.Deleted {
		return errDeleted
	}
	return nil
}

func (s *stream) write(text []byte) error {
	_, err := s.out.Write(text)
	return err
}
