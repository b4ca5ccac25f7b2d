package boot_test

import (
	"testing"

	"github.com/rethread/rethread/shared/boot"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size, gomemlimit string
		want             int64
	}{
		"leaves a quarter of the function's memory": {"128", "", 96 << 20},
		"leaves GOMEMLIMIT alone":                   {"128", "50MiB", 0},
		"is none outside Lambda":                    {"", "", 0},
		"is none for a size that is no number":      {"much", "", 0},
		"is none for no memory":                     {"0", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": c.size, "GOMEMLIMIT": c.gomemlimit}
			if got := boot.MemoryLimit(func(name string) string { return env[name] }); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}
