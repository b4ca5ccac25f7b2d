package gateway

import "context"

type baseKey struct{}

// WithBase adds the public address of the API, without a trailing slash, to a
// context: agent cards contain it.
func WithBase(ctx context.Context, url string) context.Context {
	return context.WithValue(ctx, baseKey{}, url)
}

// Base returns the address added by WithBase; "" without one.
func Base(ctx context.Context) string {
	base, _ := ctx.Value(baseKey{}).(string)
	return base
}
