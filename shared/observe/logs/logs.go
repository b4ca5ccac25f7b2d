// Package logs makes every line that is logged while something is served say
// what it belongs to: the request, the session, the run. What is known stands in
// the context, and a handler of log/slog adds it to each record.
//
// Text of conversations is never logged, nor what state, artifacts and tasks
// hold, nor tokens: lines name things by their ids.
package logs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"sync"
)

// Names of what lines say about what they belong to.
const (
	RequestID = "request_id" // the gateway's where there is one: answers carry it
	SessionID = "session_id"
	RunID     = "run_id"
	UserID    = "user_id"
	Route     = "route"
	Status    = "status"
)

type contextKey struct{}

// scope is something that is being served, or a part of it.
type scope struct {
	parent *scope

	mu    sync.Mutex
	attrs []slog.Attr
}

// With begins a scope: whatever is logged with the context that it returns, or
// with one made from that, has these attributes.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	s := &scope{parent: scopeOf(ctx)}
	s.add(attrs)
	return context.WithValue(ctx, contextKey{}, s)
}

// Add adds what was found out meanwhile to the scope that the context is in;
// an attribute of the same name is replaced. Lines of that scope have it from
// now on, those of whoever began it included. Outside of all scopes it does
// nothing.
func Add(ctx context.Context, attrs ...slog.Attr) {
	if s := scopeOf(ctx); s != nil {
		s.add(attrs)
	}
}

// Of is what is known in a context, the innermost scope's first, each name once.
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

// User names a user without saying who it is: by the first 16 hexadecimal digits
// of the SHA-256 of their id, the sub of their token. Who knows the id finds the
// lines; who has only the lines, which stay when all else of a user is erased,
// has neither a name nor an address.
func User(id string) slog.Attr { return Person(UserID, id) }

// Person names a user as User does, in another part than that of who asks.
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

// add leaves out what says nothing.
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
