package websocket_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when an API leaves anything running behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
