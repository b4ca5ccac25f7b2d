package rethread

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// resource is the base of all services of a Client.
type resource struct{ t *transport }

// fetch makes a call and decodes its answer.
func fetch[T any](ctx context.Context, r resource, c call, opts []Option) (T, http.Header, error) {
	var out T
	got, err := r.t.do(ctx, c, opts)
	if err != nil {
		return out, nil, err
	}
	if err := json.Unmarshal(got.body, &out); err != nil {
		return out, nil, fmt.Errorf("%s %s: decode the answer: %w", c.method, c.path, err)
	}
	return out, got.header, nil
}

// body makes a call and decodes its answer.
func body[T any](ctx context.Context, r resource, c call, opts []Option) (T, error) {
	out, _, err := fetch[T](ctx, r, c, opts)
	return out, err
}

// data makes a call and decodes the member data of its answer.
func data[T any](ctx context.Context, r resource, c call, opts []Option) (T, error) {
	out, err := body[struct {
		Data T `json:"data"`
	}](ctx, r, c, opts)
	return out.Data, err
}

// done makes a call whose answer is of no interest.
func (r resource) done(ctx context.Context, c call, opts []Option) error {
	_, err := r.t.do(ctx, c, opts)
	return err
}

func get(path string, params ...string) call {
	return call{method: http.MethodGet, path: path, params: params}
}

func post(repeat repeat, json any, path string, params ...string) call {
	return call{method: http.MethodPost, path: path, params: params, json: json, repeat: repeat}
}

func patch(json any, path string, params ...string) call {
	return call{method: http.MethodPatch, path: path, params: params, json: json}
}

func remove(path string, params ...string) call {
	return call{method: http.MethodDelete, path: path, params: params, repeat: repeatDelete}
}
