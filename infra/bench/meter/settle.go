package meter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
)

// pollEvery is how often Settle looks.
const pollEvery = 20 * time.Millisecond

// Settle waits until no function except the ignored ones has made a request for the
// time of quiet: then work that a request has caused, such as fan-out, has ended.
func (p *Proxy) Settle(ctx context.Context, quiet time.Duration, ignored ...string) error {
	for !p.isQuiet(quiet, ignored) {
		if err := retry.Sleep(ctx, pollEvery); err != nil {
			return fmt.Errorf("wait until the functions are done: %w", err)
		}
	}
	return nil
}

func (p *Proxy) isQuiet(quiet time.Duration, ignored []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var last time.Time
	for function, n := range p.active {
		if slices.Contains(ignored, function) {
			continue
		}
		if n > 0 {
			return false
		}
		if p.last[function].After(last) {
			last = p.last[function]
		}
	}
	return time.Since(last) >= quiet
}
