package history

import (
	"github.com/rethread/rethread/shared/store/keys"
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
