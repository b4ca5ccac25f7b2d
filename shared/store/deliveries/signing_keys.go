package deliveries

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// keyring is the one item that holds the keys (ADR 10). Only two functions have
// access to its partition.
type keyring struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Keys    []byte `dynamodbav:"k"`
	Version int64  `dynamodbav:"v"`
}

const keyringVersion = "v"

func keyringKey() table.Key { return table.NewKey("SIGN", "KEYS") }

// SigningKeys stores the keys that sign notifications. It is safe for concurrent use.
type SigningKeys struct{ records.Base }

// NewSigningKeys returns the keys of a table.
func NewSigningKeys(base records.Base) *SigningKeys { return &SigningKeys{base} }

// SigningKeys reads the signing keys, as they were put, and their version, which is
// 0 before the first put.
func (s *SigningKeys) SigningKeys(ctx context.Context) (keys []byte, version int64, err error) {
	var item keyring
	if _, err := s.DB.Get(ctx, keyringKey(), &item); err != nil {
		return nil, 0, fmt.Errorf("read the signing keys: %w", err)
	}
	return item.Keys, item.Version, nil
}

// PutSigningKeys replaces the keys of a version. It returns fault.Conflict if they
// were replaced concurrently.
func (s *SigningKeys) PutSigningKeys(ctx context.Context, keys []byte, version int64) error {
	c := table.ItemNotExists()
	if version > 0 {
		c = table.Equal(table.Path{keyringVersion}, version)
	}
	k := keyringKey()
	err := s.DB.Put(ctx, keyring{PK: k.PK, SK: k.SK, Keys: keys, Version: version + 1}, c)
	if errors.Is(err, table.ErrConditionFailed) {
		return fault.New(fault.Superseded, "the signing keys were replaced")
	}
	if err != nil {
		return fmt.Errorf("put the signing keys: %w", err)
	}
	return nil
}
