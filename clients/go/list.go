package rethread

import (
	"context"
	"iter"
	"net/url"
)

// Page is a page of a list.
type Page[T any] struct {
	Data []T
	// NextCursor leads to the next page; "" on the last one. A short page is not always
	// the last.
	NextCursor string
}

// List is a list that is read while it is used. Each of its methods reads anew.
type List[T any] struct {
	first string
	read  func(ctx context.Context, cursor string) (Page[T], error)
}

// All returns the entries, which it reads page by page. An error ends the sequence.
func (l List[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range l.Pages(ctx) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, entry := range page.Data {
				if !yield(entry, nil) {
					return
				}
			}
		}
	}
}

// Pages returns the pages. An error ends the sequence.
func (l List[T]) Pages(ctx context.Context) iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		for cursor := l.first; ; {
			page, err := l.read(ctx, cursor)
			if !yield(page, err) || err != nil || page.NextCursor == "" {
				return
			}
			cursor = page.NextCursor
		}
	}
}

// Page returns the first page.
func (l List[T]) Page(ctx context.Context) (Page[T], error) { return l.read(ctx, l.first) }

// Collect returns all entries.
func (l List[T]) Collect(ctx context.Context) ([]T, error) {
	var out []T
	for page, err := range l.Pages(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, page.Data...)
	}
	return out, nil
}

// entries returns a list whose pages have data and meta.
func entries[T any](r resource, query url.Values, opts []Option, path string, params ...string) List[T] {
	type listed struct {
		Data []T      `json:"data"`
		Meta pageMeta `json:"meta"`
	}
	return pages(query, func(ctx context.Context, query url.Values) (Page[T], error) {
		c := get(path, params...)
		c.query = query
		got, err := body[listed](ctx, r, c, opts)
		return Page[T]{got.Data, got.Meta.NextCursor}, err
	})
}

type pageMeta struct {
	NextCursor string `json:"next_cursor"`
}

// pages returns a list that reads its pages with a query, in which it sets the cursor.
func pages[T any](query url.Values, read func(context.Context, url.Values) (Page[T], error)) List[T] {
	return List[T]{query.Get("cursor"), func(ctx context.Context, cursor string) (Page[T], error) {
		own := url.Values{}
		for name, values := range query {
			own[name] = values
		}
		own.Del("cursor")
		if cursor != "" {
			own.Set("cursor", cursor)
		}
		return read(ctx, own)
	}}
}
