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

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// forward delivers the messages of a source. It returns nil if the source broke
// and another one may continue, *subscription.EndedError if none may.
func (s *stream) forward(ctx context.Context, from *subscription.Subscription) error {
	ctx, cancel := context.WithCancel(ctx)
	messages, endErr := make(chan subscription.Message), error(nil)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(messages)
		endErr = s.receive(ctx, from, messages)
	})
	running.Go(func() {
		defer cancel() // a connection that does not answer counts as closed
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
				return endErr
			}
			if err := s.take(ctx, m); err != nil {
				return s.gap(ctx, err)
			}
			silent.Reset(s.Heartbeat)
		case <-s.gapTimer():
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

// receive reads messages about the session until the source ends. An error
// reports that no other source may replace it.
func (s *stream) receive(ctx context.Context, from *subscription.Subscription, into chan<- subscription.Message) error {
	for {
		m, err := from.Next(ctx)
		if err != nil {
			return s.sourceError(ctx, err)
		}
		select {
		case into <- m:
		case <-ctx.Done():
			return nil
		}
	}
}

// sourceError classifies the end of a source: nil if another one may replace
// it.
func (s *stream) sourceError(ctx context.Context, err error) error {
	var ended *subscription.EndedError
	if errors.As(err, &ended) {
		return ended
	}
	if ctx.Err() == nil {
		s.Log.InfoContext(ctx, "the websocket was disconnected", "error", err)
	}
	return nil
}

// keepAlive pings the source until a ping fails or ctx ends: the gateway closes
// connections that are idle for ten minutes.
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

// take puts one message in order, after reading an item that was too large for
// the websocket.
func (s *stream) take(ctx context.Context, m subscription.Message) error {
	if order.TooLarge(m) && s.api != "" {
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

// gapTimer fires when a missing message counts as lost.
func (s *stream) gapTimer() <-chan time.Time {
	at, waits := s.order.Due(s.Hold)
	if !waits {
		return nil
	}
	return time.After(time.Until(at))
}

// gap classifies an error of a message: nil if another source may repair it.
// After maxRetries gaps without progress the stream ends in order, and its
// reader reconnects.
func (s *stream) gap(ctx context.Context, err error) error {
	if !errors.Is(err, order.ErrGap) {
		return err
	}
	if s.gaps++; s.order.Forwarded() > s.forwarded {
		s.gaps, s.forwarded = 0, s.order.Forwarded()
	}
	s.Log.InfoContext(ctx, "a message is missing", "in_a_row", s.gaps)
	if s.gaps >= maxRetries {
		return errMissing
	}
	return nil
}

// event writes an event whose id is the position at which a reader continues.
func (s *stream) event(kind string, data []byte) error {
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil { // one line of data per message
		return fmt.Errorf("compact a message: %w", err)
	}
	name, err := eventstream.NewType(kind)
	if err != nil {
		return fmt.Errorf("set the event type: %w", err)
	}
	m := eventstream.Message{Type: name}
	if at, ok := s.order.Cursor(); ok {
		m.ID = eventstream.ID(at.String())
	}
	m.AppendData(string(jsonx.Line(text.Bytes())))
	return s.write(&m)
}

// write writes a message with one call.
func (s *stream) write(m *eventstream.Message) error {
	text, err := m.MarshalText()
	if err == nil {
		_, err = s.out.Write(text)
	}
	return err
}
