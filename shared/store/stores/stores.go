// Package stores puts the packages of the store together over one table.
package stores

import (
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Store is everything that is kept in the table. It is safe for concurrent use.
type Store struct {
	*sessions.Store
}

// New is the store over a table that has the indexes of store.Schema.
func New(engine table.Engine, opts ...sessions.Option) *Store {
	s := sessions.New(engine, opts...)
	return &Store{Store: s}
}

// With is the same store with other options.
func (s *Store) With(opts ...sessions.Option) *Store { return &Store{Store: s.Store.With(opts...)} }
