package websocket_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if an API leaves goroutines behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
