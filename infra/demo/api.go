package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/rethread/rethread/infra/test/e2e/host"
)

type object = map[string]any

var errUnexpected = errors.New("the API answered otherwise than it should")

// person is somebody who talks to the API.
type person struct {
	url   string
	token string
}

func login(ctx context.Context, url, name string) (*person, error) {
	token, err := host.Token(ctx, url, name)
	if err != nil {
		return nil, err
	}
	return &person{url: url + "/api/v1", token: token}, nil
}

// call makes a request and returns the body, or fails on another status.
func (p *person) call(ctx context.Context, want int, method, path string, body any) ([]byte, error) {
	got, status, err := p.send(ctx, method, path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if status != want {
		return nil, fmt.Errorf("%s %s: %w: %d instead of %d\n%s", method, path, errUnexpected, status, want, got)
	}
	return got, nil
}

func (p *person) send(ctx context.Context, method, path string, body any) ([]byte, int, error) {
	var payload io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, 0, err
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, payload)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	got, err := io.ReadAll(res.Body)
	return got, res.StatusCode, err
}
