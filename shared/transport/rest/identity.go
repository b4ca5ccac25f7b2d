package rest

import "context"

type requestIDKey struct{}

// WithRequestID adds the id of a request in the log and the answer to its
// context.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

func requestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
