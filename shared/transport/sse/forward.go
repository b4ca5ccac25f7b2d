package sse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	eventstream "github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
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
			if err := s.take(ctx, m); err != nil {
				return s.gap(ctx, err)
			}
			silent.Reset(s.Heartbeat)
		case <-s.late():
			return s.gap(ctx, order.ErrGap)
		case <-silent.C:
			var ping eventstream.Message
			ping.AppendComment("ping")
			if err := s.write(&ping); err != nil {
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

// take takes one message; one that was too large for the websocket is read.
func (s *stream) take(ctx context.Context, m subscription.Message) error {
	if order.TooLarge(m) && s.API != "" {
		if !s.order.Lacks(m) {
			return nil
		}
		var err error
		if m, err = s.read(ctx, m); err != nil {
			s.Log.InfoContext(ctx, "an item cannot be read", "cursor", m.Cursor, "error", err)
			return order.ErrGap
		}
	}
	return s.order.Take(m)
}

// late is when what is missing will not come any more by itself.
func (s *stream) late() <-chan time.Time {
	at, waits := s.order.Due(s.Hold)
	if !waits {
		return nil
	}
	return time.After(time.Until(at))
}

// gap is what an error of a message means: nil where another source repairs it.
// Where that does not help, again and again, the stream ends in order: its
// reader comes back.
func (s *stream) gap(ctx context.Context, err error) error {
	if !errors.Is(err, order.ErrGap) {
		return err
	}
	if s.gaps++; s.order.Forwarded() > s.passed {
		s.gaps, s.passed = 0, s.order.Forwarded()
	}
	s.Log.InfoContext(ctx, "something is missing", "in_a_row", s.gaps)
	if s.gaps >= maxRetries {
		return errMissing
	}
	return nil
}

// event writes an event whose id is where to go on.
func (s *stream) event(kind string, data []byte) error {
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil { // each message is one line of data
		return fmt.Errorf("compact a message: %w", err)
	}
	name, err := eventstream.NewType(kind)
	if err != nil {
		return fmt.Errorf("name an event: %w", err)
	}
	m := eventstream.Message{Type: name}
	if at, ok := s.order.Cursor(); ok {
		m.ID = eventstream.ID(at.String())
	}
	m.AppendData(text.String())
	return s.write(&m)
}

// write sends a message in one piece.
func (s *stream) write(m *eventstream.Message) error {
	text, err := m.MarshalText()
	if err == nil {
		_, err = s.out.Write(text)
	}
	return err
}
