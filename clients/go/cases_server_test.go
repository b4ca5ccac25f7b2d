package rethread_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// exchange is a request or a subscription of a recorded case, with its answer.
type exchange struct {
	Request *wantRequest
	AfterMS int64 `json:"after_ms"`
	Answer  struct {
		Status   int
		Headers  map[string]string
		Body     json.RawMessage
		Text     string
		Cut      bool
		CutAfter *string `json:"cut_after"`
		Silence  bool
	}

	Subscription *struct {
		Cursor string
		Token  string
	}
	Messages []json.RawMessage
	End      string
	Refused  *struct {
		Status int
		Detail string
	}
}

type wantRequest struct {
	Method  string
	Path    string
	Query   map[string]string
	Headers map[string]*string
	Body    json.RawMessage
	Text    string
	Repeats int
}

// scriptedServer answers requests as the exchanges of a case say.
type scriptedServer struct {
	t *testing.T

	mu        sync.Mutex
	exchanges []exchange
	used      []bool
	keys      map[int][2]string // Idempotency-Key and body of each request, by the exchange's index
	answered  time.Time
}

func (s *scriptedServer) client() *http.Client { return &http.Client{Transport: s} }

var errCut = errors.New("connection reset")

// RoundTrip implements http.RoundTripper.
func (s *scriptedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	watches := strings.HasSuffix(r.URL.Path, "/watch")
	s.mu.Lock()
	i := slices.IndexFunc(s.exchanges, func(e exchange) bool { return (e.Subscription != nil) == watches })
	for i >= 0 && i < len(s.exchanges) && (s.used[i] || (s.exchanges[i].Subscription != nil) != watches) {
		i++
	}
	if i < 0 || i >= len(s.exchanges) {
		s.mu.Unlock()
		s.t.Errorf("one request too many: %s %s", r.Method, r.URL)
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	e := s.exchanges[i]
	s.used[i], s.keys[i] = true, [2]string{r.Header.Get("Idempotency-Key"), string(body)}
	if waited := time.Since(s.answered); !s.answered.IsZero() && waited < time.Duration(e.AfterMS)*time.Millisecond {
		s.t.Errorf("request %d came %v after the answer before", i+1, waited)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.answered = time.Now()
		s.mu.Unlock()
	}()
	if watches {
		return s.subscribed(i+1, r, e)
	}
	s.compare(i+1, r, string(body), e.Request)
	return e.answer(r)
}

func (s *scriptedServer) compare(number int, r *http.Request, body string, want *wantRequest) {
	if r.Method != want.Method || r.URL.EscapedPath() != want.Path {
		s.t.Errorf("request %d is %s %s, not %s %s", number, r.Method, r.URL.EscapedPath(), want.Method, want.Path)
	}
	query := url.Values{}
	for name, value := range want.Query {
		query.Set(name, value)
	}
	if want.Query != nil && query.Encode() != r.URL.Query().Encode() {
		s.t.Errorf("request %d has the query %q, not %q", number, r.URL.RawQuery, query.Encode())
	}
	for name, value := range want.Headers {
		got, present := r.Header[http.CanonicalHeaderKey(name)]
		switch {
		case value == nil && present, value != nil && !present, value != nil && *value != "*" && got[0] != *value:
			s.t.Errorf("request %d has the header %s: %q", number, name, got)
		}
	}
	if want.Body != nil && !reflect.DeepEqual(decoded[any](want.Body), decoded[any]([]byte(body))) {
		s.t.Errorf("request %d has the body %s, not %s", number, body, want.Body)
	}
	if want.Text != "" && body != want.Text {
		s.t.Errorf("request %d has the body %q, not %q", number, body, want.Text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if want.Repeats > 0 && s.keys[number-1] != s.keys[want.Repeats-1] {
		s.t.Errorf("request %d has another key or body than request %d: %q, %q", number, want.Repeats, s.keys[number-1], s.keys[want.Repeats-1])
	}
}

func (e exchange) answer(r *http.Request) (*http.Response, error) {
	a := e.Answer
	switch {
	case a.Cut:
		return nil, errCut
	case a.Silence:
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for name, value := range a.Headers {
		header.Set(name, value)
	}
	body := io.Reader(strings.NewReader(string(a.Body) + a.Text))
	if a.CutAfter != nil {
		body = io.MultiReader(strings.NewReader(*a.CutAfter), cutReader{})
	}
	return &http.Response{StatusCode: a.Status, Header: header, Body: io.NopCloser(body), Request: r}, nil
}

type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, errCut }

// subscribed answers a request for a stream.
func (s *scriptedServer) subscribed(number int, r *http.Request, e exchange) (*http.Response, error) {
	cursor := r.Header.Get("Last-Event-ID")
	if cursor == "" {
		cursor = r.URL.Query().Get("cursor")
	}
	if cursor != e.Subscription.Cursor {
		s.t.Errorf("subscription %d is from %q, not %q", number, cursor, e.Subscription.Cursor)
	}
	if want := e.Subscription.Token; want != "" && r.Header.Get("Authorization") != "Bearer "+want {
		s.t.Errorf("subscription %d has not the token %s", number, want)
	}
	if e.Refused != nil {
		problem, err := json.Marshal(e.Refused)
		if err != nil {
			return nil, err
		}
		return &http.Response{
			StatusCode: e.Refused.Status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(strings.ToLower(string(problem)))), Request: r,
		}, nil
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: e.stream(r), Request: r,
	}, nil
}

// stream returns the messages as server-sent events.
func (e exchange) stream(r *http.Request) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		for _, m := range e.Messages {
			var head struct{ Type string }
			err := json.Unmarshal(m, &head)
			if err == nil {
				line := strings.ReplaceAll(string(m), "\n", "\ndata: ")
				_, err = io.WriteString(in, ": comment\nevent: "+head.Type+"\ndata: "+line+"\n\n")
			}
			if err != nil {
				in.CloseWithError(err)
				return
			}
		}
		switch e.End {
		case "cut":
			in.CloseWithError(errCut)
		case "closed":
			in.CloseWithError(io.EOF)
		default: // open
			<-r.Context().Done()
			in.CloseWithError(r.Context().Err())
		}
	}()
	return out
}

func (s *scriptedServer) allUsed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.Contains(s.used, false)
}

func (s *scriptedServer) wantAllUsed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, used := range s.used {
		if !used {
			s.t.Errorf("exchange %d was not used", i+1)
		}
	}
}
