// Package remote is a client of those parts of the HTTP API that the ADK services
// use: sessions, events, rewind and fork, artifacts.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	basePath = "/api/v1"
	jsonType = "application/json"
	timeout  = 30 * time.Second
	maxTries = 5
	// maxAnswer is the limit of a decompressed body in bytes. It is above the
	// gateway's limit.
	maxAnswer = 64 << 20
)

// Config configures a Client.
type Config struct {
	URL    string // without the path /api/v1
	Token  func(ctx context.Context, userID string) (string, error)
	Client *http.Client // nil means a client with a timeout of 30 seconds
}

// Client is a client of the API. It is safe for concurrent use.
type Client struct {
	base   string
	token  func(ctx context.Context, userID string) (string, error)
	client *http.Client
}

// New returns a client. It fails if the URL is not an HTTP URL or Token is nil.
func New(c Config) (*Client, error) {
	address, err := url.Parse(c.URL)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return nil, fmt.Errorf("%q is not the address of an HTTP API", c.URL)
	}
	if c.Token == nil {
		return nil, errors.New("the HTTP API requires a token function")
	}
	if c.Client == nil {
		c.Client = &http.Client{Timeout: timeout}
	}
	return &Client{base: strings.TrimRight(c.URL, "/") + basePath, token: c.Token, client: c.Client}, nil
}

// request is a request on behalf of a user. path is escaped and relative to the
// base path.
type request struct {
	user, method, path string
	query              url.Values
	body               any    // encoded as JSON
	bytes              []byte // instead of body, sent with mimeType
	mimeType           string
	// key is the Idempotency-Key, which makes a creating request safe to repeat.
	key string
	// once forbids repeating the request unless it was certainly not executed.
	once bool
}

// answer is a successful response.
type answer struct {
	header http.Header
	body   []byte
}

// do sends a request, up to maxTries times on network errors, throttling and an
// unavailable gateway.
func (c *Client) do(ctx context.Context, r request) (answer, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 100*time.Millisecond, 5*time.Second
	got, err := backoff.Retry(ctx, func() (answer, error) { return c.try(ctx, r) },
		backoff.WithBackOff(wait), backoff.WithMaxTries(maxTries))
	if err != nil {
		var final *backoff.PermanentError
		if errors.As(err, &final) {
			err = final.Unwrap()
		}
		return answer{}, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	return got, nil
}

func (c *Client) try(ctx context.Context, r request) (answer, error) {
	req, err := c.make(ctx, r)
	if err != nil {
		return answer{}, backoff.Permanent(err)
	}
	res, err := c.client.Do(req)
	if err != nil {
		if r.once || ctx.Err() != nil {
			return answer{}, backoff.Permanent(err)
		}
		return answer{}, err
	}
	defer res.Body.Close() //nolint:errcheck // nothing depends on it
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode > 299:
		return answer{}, retryable(r, res, failure(res, body))
	case err != nil && r.once:
		return answer{}, backoff.Permanent(err)
	}
	return answer{res.Header, body}, err
}

// make returns the HTTP request of one attempt, with a fresh token.
func (c *Client) make(ctx context.Context, r request) (*http.Request, error) {
	payload, mimeType := r.bytes, r.mimeType
	if r.body != nil {
		var err error
		if payload, err = Encode(r.body); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		mimeType = jsonType
	}
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	token, err := c.token(ctx, r.user)
	if err != nil {
		return nil, fmt.Errorf("get a token for user %q: %w", r.user, err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if mimeType != "" {
		req.Header.Set("Content-Type", mimeType)
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	return req, nil
}

// data sends a request and decodes the member data of the response.
func data[T any](ctx context.Context, c *Client, r request) (T, error) {
	var body struct {
		Data T `json:"data"`
	}
	got, err := c.do(ctx, r)
	if err == nil {
		if err = json.Unmarshal(got.body, &body); err != nil {
			err = fmt.Errorf("%s %s: decode the answer: %w", r.method, r.path, err)
		}
	}
	return body.Data, err
}

func get(user, path string) request {
	return request{user: user, method: http.MethodGet, path: path}
}

func sessionPath(id string, more ...string) string {
	path := "/sessions/" + url.PathEscape(id)
	for _, part := range more {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// Encode encodes v as JSON without escaping <, > and &, so that stored values are
// unchanged.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
