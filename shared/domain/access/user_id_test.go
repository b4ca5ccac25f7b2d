package access_test

import (
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/access"
)

func TestIsUserID(t *testing.T) {
	for id, want := range map[string]bool{
		"alice": true, "": false, strings.Repeat("x", 256): true, strings.Repeat("x", 257): false,
		strings.Repeat("ü", 256): true, strings.Repeat("😀", 193): false, "\xff": false,
	} {
		if got := access.IsUserID(id); got != want {
			t.Errorf("%.20q: %v", id, got)
		}
	}
}
