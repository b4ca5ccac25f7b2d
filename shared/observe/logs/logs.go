// Package logs adds to every log line the request, the session and the run that it
// belongs to. These attributes are kept in the context, and a handler for log/slog
// adds them to each record.
//
// Conversations, contents of state, artifacts and tasks, and tokens are never logged:
// lines contain only ids.
package logs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"sync"
)

// Names of the attributes.
const (
	RequestID = "request_id" // the gateway's if there is one; responses have it too
	SessionID = "session_id"
	RunID     = "run_id"
	UserID    = "user_id"
	ServiceID = "service_id" // the service that acts for the user
	Route     = "route"
	Status    = "status"
)

type contextKey struct{}

// scope is a unit of work, or a part of one, with its attributes.
type scope struct {
	parent *scope

	mu    sync.Mutex
	attrs []slog.Attr
}

// With begins a scope: all lines logged with the returned context, or one derived
// from it, have these attributes.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	s := &scope{parent: scopeOf(ctx)}
	s.add(attrs)
	return context.WithValue(ctx, contextKey{}, s)
}

// Add adds attributes to the context's innermost scope, and replaces those of the
// same name. All later lines of that scope have them, including those logged by the
// code that began it. Without a scope it does nothing.
func Add(ctx context.Context, attrs ...slog.Attr) {
	if s := scopeOf(ctx); s != nil {
		s.add(attrs)
	}
}

// Of returns the attributes of a context, the innermost scope's first, each name once.
func Of(ctx context.Context) []slog.Attr {
	var all []slog.Attr
	for s := scopeOf(ctx); s != nil; s = s.parent {
		s.mu.Lock()
		for _, a := range s.attrs {
			if !has(all, a.Key) {
				all = append(all, a)
			}
		}
		s.mu.Unlock()
	}
	return all
}

// User returns an attribute that identifies a user by a hash: the first 16
// hexadecimal digits of the SHA-256 of the id, the sub of the user's token. The lines
// can be found by the id, but do not reveal it, because logs outlive erased data.
func User(id string) slog.Attr { return Person(UserID, id) }

// Person is User with another name, for users other than the caller.
func Person(name, id string) slog.Attr {
	if id == "" {
		return slog.String(name, "")
	}
	sum := sha256.Sum256([]byte(id))
	return slog.String(name, hex.EncodeToString(sum[:8]))
}

func scopeOf(ctx context.Context) *scope {
	s, _ := ctx.Value(contextKey{}).(*scope)
	return s
}

// add adds attributes, except empty strings.
func (s *scope) add(attrs []slog.Attr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range attrs {
		s.attrs = slices.DeleteFunc(s.attrs, func(known slog.Attr) bool { return known.Key == a.Key })
		if a.Value.Kind() != slog.KindString || a.Value.String() != "" {
			s.attrs = append(s.attrs, a)
		}
	}
}

func has(attrs []slog.Attr, key string) bool {
	return slices.ContainsFunc(attrs, func(a slog.Attr) bool { return a.Key == key })
}
