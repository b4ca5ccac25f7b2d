package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"

	"github.com/rethread/rethread/infra/test/e2e/host"
)

var (
	errUnexpected = errors.New("unexpected answer")
	errConflict   = fmt.Errorf("%w: 409", errUnexpected)
)

// object is a JSON object.
type object map[string]any

// client makes requests of one user, one after another.
type client struct {
	url, token         string
	requests, received int // received is in bytes
}

const api = "/api/v1"

func newClient(ctx context.Context, url, user string) (*client, error) {
	token, err := host.Token(ctx, url, user)
	return &client{url: url, token: token}, err
}

// do makes a request that must be answered with the status want, and decodes the answer
// into out unless that is nil.
func (c *client) do(ctx context.Context, want int, method, path string, body, out any, header ...string) error {
	payload := []byte(nil)
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err // the error names the request
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	head, err := httputil.DumpResponse(res, false)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	c.requests++
	c.received += len(head) + len(answer)
	if res.StatusCode == http.StatusConflict && want != http.StatusConflict {
		return fmt.Errorf("%s %s: %w\n%s", method, path, errConflict, answer)
	}
	if res.StatusCode != want {
		return fmt.Errorf("%s %s: %w: %s, not %d\n%s", method, path, errUnexpected, res.Status, want, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

func (c *client) post(ctx context.Context, path string, body, out any, header ...string) error {
	return c.do(ctx, http.StatusCreated, http.MethodPost, path, body, out, header...)
}

// identified is an answer with an id.
type identified struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
}

// create creates a session and returns its path.
func (c *client) create(ctx context.Context) (string, error) {
	var made identified
	err := c.post(ctx, api+"/sessions", object{"agent": AgentName}, &made)
	return api + "/sessions/" + made.Data.ID, err
}
