package rest

import (
	"context"

	"github.com/rethread/rethread/shared/domain/access"
)

type contextKey int

const (
	userKey contextKey = iota
	requestIDKey
	scopeKey
)

// WithUser adds the caller to a request's context: the subject of a verified
// token. A request without one is answered 401.
func WithUser(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, userKey, id)
}

// WithRequestID adds the id of a request in the log and the answer to its
// context.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey, id)
}

// WithScope adds the scope of the caller's token to a request's context: words
// separated by blanks (RFC 6749, section 3.3).
func WithScope(ctx context.Context, scope string) context.Context {
	return context.WithValue(ctx, scopeKey, scope)
}

// CallerOf returns the caller of a request; its UserID is "" without a verified token.
// adminScope is the word in a token's scope that makes admins, "" for none.
func CallerOf(ctx context.Context, adminScope string) access.Caller {
	return access.Caller{UserID: userOf(ctx), Admin: access.Admin(scopeOf(ctx), adminScope)}
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
