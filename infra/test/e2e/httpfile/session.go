package httpfile

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rethread/rethread/infra/test/e2e/pick"
)

// ErrUnknown means that a reference has no value.
var ErrUnknown = errors.New("unknown reference")

// Session is one execution of a file: its variables and the answers so far.
type Session struct {
	Variables map[string]string
	NewID     func() string
	answers   map[string]Answer
}

// Answer is the part of an answer that later requests can refer to.
type Answer struct {
	Header http.Header
	Body   []byte
}

// Remember stores the answer of a named request.
func (s *Session) Remember(name string, a Answer) {
	if s.answers == nil {
		s.answers = map[string]Answer{}
	}
	s.answers[name] = a
}

// Resolve replaces every reference of a request.
func (s *Session) Resolve(r Request) (Request, error) {
	var err error
	fill := func(text string) string {
		out, e := Resolve(text, s.lookup)
		err = errors.Join(err, e)
		return out
	}
	r.URL, r.Body = fill(r.URL), fill(r.Body)
	headers := make([]Header, len(r.Headers))
	for i, h := range r.Headers {
		headers[i] = Header{h.Name, fill(h.Value)}
	}
	r.Headers = headers
	if err != nil {
		return r, fmt.Errorf("line %d: %w", r.Line, err)
	}
	return r, nil
}

func (s *Session) lookup(reference string) (string, error) {
	if reference == "$guid" {
		return s.NewID(), nil
	}
	if value, ok := s.Variables[reference]; ok {
		return Resolve(value, s.lookup)
	}
	name, path, _ := strings.Cut(reference, ".response.")
	answer, ok := s.answers[name]
	if !ok {
		return "", fmt.Errorf("%w %s", ErrUnknown, reference)
	}
	if header, ok := strings.CutPrefix(path, "headers."); ok {
		return answer.Header.Get(header), nil
	}
	return pick.Text(answer.Body, strings.TrimPrefix(path, "body."))
}
