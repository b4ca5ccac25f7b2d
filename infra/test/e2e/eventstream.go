package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/shared/domain/watch"
)

var errStream = errors.New("no stream of server-sent events")

// EventStream reads a session's server-sent events. A violation of the contract
// fails the test.
type EventStream struct {
	Header http.Header
	stream *eventStream
	tb     testing.TB
	all    *contract.Messages
}

// Watch opens a stream; query has its start.
func (u *User) Watch(session string, query url.Values, opts ...Option) *EventStream {
	u.tb.Helper()
	s, err := u.watch(u.tb.Context(), session, query, opts...)
	if err != nil {
		u.tb.Fatal(err)
	}
	u.tb.Cleanup(s.Close)
	return &EventStream{Header: s.res.Header, stream: s, tb: u.tb, all: u.system.messages}
}

// Next returns the next message and its event's id; ok is false if the stream has
// ended cleanly.
func (s *EventStream) Next() (f Frame, id string, ok bool) {
	s.tb.Helper()
	e, err := s.stream.event()
	if errors.Is(err, errEnded) {
		return f, "", false
	}
	if err != nil {
		s.tb.Fatal(err)
	}
	if f, err = readFrame(s.all, []byte(e.data)); err != nil {
		s.tb.Error(err)
	}
	if e.kind != f.Type {
		s.tb.Errorf("an event %q holds a message %q", e.kind, f.Type)
	}
	return f, e.id, true
}

// Close disconnects.
func (s *EventStream) Close() { s.stream.Close() }

// ServerSent is the Transport of server-sent events.
func ServerSent(ctx context.Context, u *User, session string, from *watch.Cursor) (Stream, error) {
	query := url.Values{}
	if from != nil {
		query.Set("cursor", from.String())
	}
	return u.watch(ctx, sessionsPath+url.PathEscape(session), query)
}

const sessionsPath = "/api/v1/sessions/"

// watch opens a stream that ends when ctx does.
func (u *User) watch(ctx context.Context, session string, query url.Values, opts ...Option) (*eventStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.system.URL+session+"/watch?"+query.Encode(), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	u.identify(req)
	for _, opt := range opts {
		req = opt(req)
	}
	res, err := u.plain.RoundTrip(req) //nolint:bodyclose // Close does
	if err != nil {
		cancel()
		return nil, err
	}
	s := &eventStream{res: res, cancel: cancel, lines: bufio.NewReader(res.Body)}
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		s.Close()
		return nil, fmt.Errorf("%w: %s, %s", errStream, res.Status, kind)
	}
	return s, nil
}

// eventStream parses the part of server-sent events that the system uses.
type eventStream struct {
	res    *http.Response
	cancel context.CancelFunc
	lines  *bufio.Reader
}

// sentEvent is one server-sent event.
type sentEvent struct{ id, kind, data string }

var errEnded = errors.New("the stream has ended")

func (s *eventStream) event() (sentEvent, error) {
	var e sentEvent
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return e, fmt.Errorf("%w: %w", errEnded, err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n" && e.data != "":
			return e, nil
		case line == "\n":
			e = sentEvent{}
		case name == "id":
			e.id = value
		case name == "event":
			e.kind = value
		case name == "data":
			e.data += value
		case name == "", name == "retry": // a comment, and the reconnection time
		default:
			return e, fmt.Errorf("%w: a line %q", errStream, line)
		}
	}
}

// Next implements Stream; it ends with the context of the stream.
func (s *eventStream) Next(context.Context) ([]byte, error) {
	e, err := s.event()
	return []byte(e.data), err
}

// Close disconnects.
func (s *eventStream) Close() {
	s.cancel()
	_ = s.res.Body.Close() // no data is lost
}
