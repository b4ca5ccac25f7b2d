package history

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Child records that a fork reads a log, which stays while it has children.
type Child struct {
	PK      string  `dynamodbav:"PK"`
	SK      string  `dynamodbav:"SK"`
	Session string  `dynamodbav:"s"`
	Before  *string `dynamodbav:"i,omitempty"`
	Found   bool    `dynamodbav:"b"`
	Base    int64   `dynamodbav:"n"`
	Created int64   `dynamodbav:"ct"`
}

// Log returns the fork's log.
func (c *Child) Log() string { return c.SK[len(keys.PrefixChild):] }

// Children reads which forks read a log.
func (s *Store) Children(ctx context.Context, log string) ([]Child, error) {
	var out []Child
	err := s.DB.Pages(ctx, records.Prefix(keys.LogPK(log), keys.PrefixChild, true), func(page []table.Item) (bool, error) {
		for _, item := range page {
			var c Child
			if err := table.Decode(item, &c); err != nil {
				return false, fmt.Errorf("unmarshal a fork: %w", err)
			}
			out = append(out, c)
		}
		return true, nil
	})
	return out, err
}
