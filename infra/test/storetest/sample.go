package storetest

import (
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/infra/test/property"
)

// Sample returns a function that decides for each case of an exhaustive test, in order,
// whether it runs: in memory all do; on DynamoDB Local, which is slow, one of every n
// does, others with another seed. It can be called from several goroutines.
func Sample(tb testing.TB, n uint64) func() bool {
	tb.Helper()
	if InMemory() {
		return func() bool { return true }
	}
	var next atomic.Uint64
	next.Store(property.Seed(tb))
	return func() bool { return next.Add(1)%n == 0 }
}
