package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// M is a JSON object.
type M = map[string]any

// User calls the API as one user, in one test. A violation of the contract fails
// the test.
type User struct {
	ID     string
	Token  string
	Named  string // the user that a service acts for
	tb     testing.TB
	system *System
	client *http.Client
	plain  *http.Transport // for streams, which never end
}

// User returns a new user whose id begins with name.
func (s *System) User(tb testing.TB, name string) *User {
	tb.Helper()
	id := name + "-" + uuid.NewString()
	token, err := host.Token(tb.Context(), s.URL, id)
	if err != nil {
		tb.Fatal(err)
	}
	return s.Bearer(tb, id, token)
}

// Bearer returns the user with a token; an empty token is not sent.
func (s *System) Bearer(tb testing.TB, id, token string) *User {
	tb.Helper()
	plain := &http.Transport{MaxIdleConnsPerHost: 32}
	tb.Cleanup(plain.CloseIdleConnections)
	return &User{
		ID: id, Token: token, tb: tb, system: s, plain: plain,
		client: &http.Client{Transport: contract.NewTransport(tb, s.spec, s.URL, plain)},
	}
}

// Acting returns a service's user: with the service's token, for the user with an id.
func (s *System) Acting(tb testing.TB, token, id string) *User {
	tb.Helper()
	u := s.Bearer(tb, id, token)
	u.Named = id
	return u
}

// identify says whose a request is.
func (u *User) identify(req *http.Request) {
	if u.Token != "" {
		req.Header.Set("Authorization", "Bearer "+u.Token)
	}
	if u.Named != "" {
		req.Header.Set("Rethread-User", url.PathEscape(u.Named))
	}
}

// HTTP returns a client whose requests are checked against the contract, except streams
// of changes, which do not end. It adds no token.
func (u *User) HTTP() *http.Client {
	return &http.Client{Transport: exceptStreams{u.client.Transport, u.plain}}
}

type exceptStreams struct{ checked, plain http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (e exceptStreams) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/watch") {
		return e.plain.RoundTrip(r)
	}
	return e.checked.RoundTrip(r)
}

// Option changes a request before it is sent.
type Option func(*http.Request) *http.Request

// Header adds a header.
func Header(name, value string) Option {
	return func(req *http.Request) *http.Request {
		req.Header.Set(name, value)
		return req
	}
}

// Bad sends a request that violates the contract on purpose.
func Bad(req *http.Request) *http.Request {
	return req.WithContext(contract.BadRequest(req.Context()))
}

// Off sends a request that is not checked: for an unknown route, or one of
// thousands.
func Off(req *http.Request) *http.Request {
	return req.WithContext(contract.OffContract(req.Context()))
}

// Get sends GET to a path such as /api/v1/sessions.
func (u *User) Get(path string, opts ...Option) *Answer {
	u.tb.Helper()
	return u.Send(http.MethodGet, path, nil, opts...)
}

// Post sends POST.
func (u *User) Post(path string, body any, opts ...Option) *Answer {
	u.tb.Helper()
	return u.Send(http.MethodPost, path, body, opts...)
}

// Patch sends PATCH.
func (u *User) Patch(path string, body any, opts ...Option) *Answer {
	u.tb.Helper()
	return u.Send(http.MethodPatch, path, body, opts...)
}

// Delete sends DELETE.
func (u *User) Delete(path string, opts ...Option) *Answer {
	u.tb.Helper()
	return u.Send(http.MethodDelete, path, nil, opts...)
}

// Send sends any request. A string or bytes are sent unchanged, nil as an empty
// body, everything else as JSON.
func (u *User) Send(method, path string, body any, opts ...Option) *Answer {
	u.tb.Helper()
	answer, err := u.Try(u.tb.Context(), method, path, body, opts...)
	if err != nil {
		u.tb.Fatal(err)
	}
	return answer
}

// Try is Send for goroutines of a test: it returns its error.
func (u *User) Try(ctx context.Context, method, path string, body any, opts ...Option) (*Answer, error) {
	payload, err := encode(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, u.system.URL+path, payload)
	if err != nil {
		return nil, err
	}
	u.identify(req)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, opt := range opts {
		req = opt(req)
	}
	res, err := u.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	return &Answer{tb: u.tb, call: method + " " + path, Status: res.StatusCode, Header: res.Header, Body: got}, nil
}

func encode(body any) (io.Reader, error) {
	switch b := body.(type) {
	case nil:
		return http.NoBody, nil
	case string:
		return strings.NewReader(b), nil
	case []byte:
		return bytes.NewReader(b), nil
	default:
		raw, err := json.Marshal(body)
		return bytes.NewReader(raw), err
	}
}

// Gzip compresses a body, to be sent with Content-Encoding: gzip.
func Gzip(tb testing.TB, body []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(body); err != nil {
		tb.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
