package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/rethread/rethread/infra/local/stackinfo"
)

// invocations returns how often each function was invoked.
func (t *trial) invocations(ctx context.Context) (map[string]int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL+"/dev/stack", http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("count invocations: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	var stack stackinfo.Stack
	if err := json.NewDecoder(res.Body).Decode(&stack); err != nil {
		return nil, fmt.Errorf("count invocations: %w", err)
	}
	out := map[string]int{}
	for _, r := range stack.Resources {
		if r.Invocations > 0 {
			out[r.LogicalID] = r.Invocations
		}
	}
	return out, nil
}

// since returns the invocations since earlier ones, without those of the sweeper.
func since(now, earlier map[string]int) map[string]int {
	out := map[string]int{}
	for function, n := range now {
		if n -= earlier[function]; n > 0 && function != sweeper {
			out[function] = n
		}
	}
	return out
}
