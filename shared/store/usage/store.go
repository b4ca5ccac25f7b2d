package usage

import (
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store/records"
)

// Store stores what users have and may have. It is safe for concurrent use.
type Store struct {
	records.Base
	Quotas quota.Limits
}

// New returns a store over the table of base.
func New(base records.Base, limits quota.Limits) *Store {
	return &Store{Base: base, Quotas: limits}
}
