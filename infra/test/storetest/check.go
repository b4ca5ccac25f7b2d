package storetest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
)

// Check is property.Check in memory. On DynamoDB Local, which is slow, it is
// property.CheckN with onDynamoDB cases.
func Check(t *testing.T, onDynamoDB int, holds func(*rapid.T)) {
	t.Helper()
	if InMemory() {
		property.Check(t, holds)
		return
	}
	property.CheckN(t, onDynamoDB, holds)
}
