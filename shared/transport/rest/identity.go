package rest

import "context"

type contextKey int

const (
	userKey contextKey = iota
	requestIDKey
	scopeKey
)

// WithUser marks a request's context with the user who asks: the subject of a
// verified token. A request without one is answered 401.
func WithUser(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, userKey, id)
}

// WithRequestID marks a request's context with the id that the log and the
// answer know it by.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey, id)
}

// WithScope marks a request's context with what its token allows: words
// separated by blanks (RFC 6749, section 3.3).
func WithScope(ctx context.Context, scope string) context.Context {
	return context.WithValue(ctx, scopeKey, scope)
}

func scopeOf(ctx context.Context) string { return contextString(ctx, scopeKey) }

func userOf(ctx context.Context) string { return contextString(ctx, userKey) }

func requestIDOf(ctx context.Context) string { return contextString(ctx, requestIDKey) }

func contextString(ctx context.Context, key contextKey) string {
	s, ok := ctx.Value(key).(string)
	if !ok {
		return ""
	}
	return s
}
