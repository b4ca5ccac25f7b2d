package sse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/watch"
	"github.com/rethread/rethread/shared/wsapi/subscription"
)

// forward passes on what a source brings. It returns nil where the source broke
// and another may go on, *subscription.EndedError where none may.
func (s *stream) forward(ctx context.Context, from *subscription.Subscription) error {
	ctx, cancel := context.WithCancel(ctx)
	messages, over := make(chan subscription.Message), error(nil)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(messages)
		over = s.receive(ctx, from, messages)
	})
	running.Go(func() {
		defer cancel() // a connection that gives no answer is as good as closed
		s.keepAlive(ctx, from)
	})
	defer running.Wait()
	defer cancel()
	silent := time.NewTicker(s.Heartbeat)
	defer silent.Stop()
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				return over
			}
			if err := s.pass(m); err != nil {
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

// receive reads messages about the session until the source ends; the error says
// that no other may take its place.
func (s *stream) receive(ctx context.Context, from *subscription.Subscription, into chan<- subscription.Message) error {
	for {
		m, err := from.Next(ctx)
		if err != nil {
			return s.broke(ctx, err)
		}
		select {
		case into <- m:
		case <-ctx.Done():
			return nil
		}
	}
}

// broke is what the end of a source means: nil where another may take its place.
func (s *stream) broke(ctx context.Context, err error) error {
	var ended *subscription.EndedError
	if errors.As(err, &ended) {
		return ended
	}
	if ctx.Err() == nil {
		s.Log.InfoContext(ctx, "the websocket broke", "error", err)
	}
	return nil
}

// keepAlive pings the source until it gives no answer or ctx ends: a gateway
// closes connections that are silent for ten minutes.
func (s *stream) keepAlive(ctx context.Context, from *subscription.Subscription) {
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

func (s *stream) ping(ctx context.Context, from *subscription.Subscription) error {
	ctx, cancel := context.WithTimeout(ctx, s.Answer)
	defer cancel()
	return from.Ping(ctx)
}

// pass passes on one message.
func (s *stream) pass(m subscription.Message) error {
	s.place.pass(m)
	if s.known.has(m) {
		return nil
	}
	if err := s.event(m.Type, m.Text); err != nil {
		return err
	}
	if watch.Type(m.Type) == watch.Deleted {
		return errDeleted
	}
	return nil
}

// event writes an event whose id is where to go on.
func (s *stream) event(kind string, data []byte) error {
	var text bytes.Buffer
	if at, ok := s.place.cursor(); ok {
		fmt.Fprintf(&text, "id: %s\n", at)
	}
	fmt.Fprintf(&text, "event: %s\ndata: ", kind)
	if err := json.Compact(&text, data); err != nil { // a line break would end the event
		return fmt.Errorf("compact a message: %w", err)
	}
	text.WriteString("\n\n")
	return s.write(text.Bytes())
}

func (s *stream) write(text []byte) error {
	_, err := s.out.Write(text)
	return err
}
