package storetest

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
)

// Check is property.Check in memory and property.CheckFor on DynamoDB Local, which
// is slow.
func Check(t *testing.T, patience time.Duration, least int, holds func(*rapid.T)) {
	t.Helper()
	if InMemory() {
		property.Check(t, holds)
		return
	}
	property.CheckFor(t, patience, least, holds)
}
