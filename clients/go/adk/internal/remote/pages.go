package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
)

// MaxPage is the maximum number of items in a page of a list.
const MaxPage = 1000

// all iterates over a list, page by page.
func all[T any](ctx context.Context, c *Client, r request) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := url.Values{"limit": {strconv.Itoa(MaxPage)}}
		for name, values := range r.query {
			query[name] = values
		}
		r.query = query
		for {
			items, next, err := page(ctx, c, r)
			for _, raw := range items {
				var item T
				if item, err = decode[T](raw); err != nil {
					break
				}
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, fmt.Errorf("%s: %w", r.path, err))
				return
			}
			if next == nil {
				return
			}
			query.Set("cursor", *next)
		}
	}
}

func page(ctx context.Context, c *Client, r request) (items []json.RawMessage, next *string, err error) {
	var body struct {
		Data []json.RawMessage `json:"data"`
		Meta struct {
			NextCursor *string `json:"next_cursor"`
		} `json:"meta"`
	}
	got, err := c.do(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	err = json.Unmarshal(got.body, &body)
	return body.Data, body.Meta.NextCursor, err
}

func decode[T any](raw json.RawMessage) (v T, err error) {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return v, errors.New("an item of the list is null")
	}
	err = json.Unmarshal(raw, &v)
	return v, err
}
