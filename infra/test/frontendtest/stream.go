package frontendtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Stream is the answer to a request.
type Stream struct {
	Status int
	Header http.Header
	Body   string           // if it is no stream
	All    []map[string]any // the events read so far
	Done   bool             // it ended with [DONE]

	text   string
	lines  *bufio.Reader
	closer io.Closer
}

// Call sends a request as a user; "" sends no user. The headers are pairs of names and
// values.
func (r *Rig) Call(t testing.TB, user, method, path, body string, headers ...string) *Stream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User", user)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	answer, err := r.server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	s := &Stream{
		Status: answer.StatusCode, Header: answer.Header, text: r.text, lines: bufio.NewReader(answer.Body), closer: answer.Body,
	}
	if answer.Header.Get("Content-Type") != "text/event-stream" {
		raw, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		s.Body = string(raw)
	}
	return s
}

// Close leaves without reading the rest.
func (s *Stream) Close() { _ = s.closer.Close() }

// Next returns the next event; nil at the end of the stream.
func (s *Stream) Next(t testing.TB) map[string]any {
	t.Helper()
	if s.Body != "" {
		t.Fatalf("no stream: %d %s", s.Status, s.Body)
	}
	for {
		line, err := s.lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(line, "\u0085\u2028\u2029") {
			t.Fatalf("some readers split this line: %q", line)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]\n" {
			s.Done = true
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		s.All = append(s.All, e)
		return e
	}
}

// Until returns the next event of a type.
func (s *Stream) Until(t testing.TB, kind string) map[string]any {
	t.Helper()
	for {
		e := s.Next(t)
		if e == nil {
			t.Fatalf("no %s among %v", kind, s.All)
		}
		if e["type"] == kind {
			return e
		}
	}
}

// UntilText returns the next piece of a text.
func (s *Stream) UntilText(t testing.TB) string {
	t.Helper()
	text, _ := s.Until(t, s.text)["delta"].(string)
	return text
}

// End reads the rest and returns the types of all events in order, repeated ones once,
// and the text of the answer.
func (s *Stream) End(t testing.TB) (types, text string) {
	t.Helper()
	for s.Next(t) != nil {
	}
	var kinds []string
	for _, e := range s.All {
		kind, _ := e["type"].(string)
		if len(kinds) == 0 || kind != kinds[len(kinds)-1] {
			kinds = append(kinds, kind)
		}
		if kind == s.text {
			text += e["delta"].(string)
		}
	}
	return strings.Join(kinds, " "), text
}

// Last returns the last event read.
func (s *Stream) Last() map[string]any { return s.All[len(s.All)-1] }
