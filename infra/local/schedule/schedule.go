// Package schedule invokes functions at the times that the template sets, as
// Amazon EventBridge does.
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// ErrExpression means that a schedule's expression is not supported.
var ErrExpression = errors.New("only rate(…) schedules are supported by the local host")

// Invoker runs a function in the background.
type Invoker interface {
	InvokeAsync(function string, payload []byte)
}

// Options configure the schedules.
type Options struct {
	Functions []samtemplate.Function
	Invoker   Invoker
	Region    string
	Account   string
	// After is the clock: the channel receives once the duration has passed.
	After func(time.Duration) <-chan time.Time
}

// Source invokes functions on schedule.
type Source struct {
	opts    Options
	entries []entry
}

type entry struct {
	function string
	interval time.Duration
	samtemplate.Schedule
}

// New reads the functions' schedules.
func New(opts Options) (*Source, error) {
	s := &Source{opts: opts}
	for _, function := range opts.Functions {
		for _, schedule := range function.Schedules {
			if !schedule.Enabled {
				continue
			}
			interval, err := parseRate(schedule.Expression)
			if err != nil {
				return nil, fmt.Errorf("schedule %s of %s: %w", schedule.Name, function.LogicalID, err)
			}
			s.entries = append(s.entries, entry{function.LogicalID, interval, schedule})
		}
	}
	return s, nil
}

// Run invokes functions until ctx ends. As in EventBridge, the first invocation
// follows after the first interval.
func (s *Source) Run(ctx context.Context) error {
	var group sync.WaitGroup
	for _, e := range s.entries {
		group.Go(func() { s.repeat(ctx, e) })
	}
	group.Wait()
	return nil
}

func (s *Source) repeat(ctx context.Context, e entry) {
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-s.opts.After(e.interval):
			s.opts.Invoker.InvokeAsync(e.function, s.event(e, now))
		}
	}
}

// event is EventBridge's scheduled event.
func (s *Source) event(e entry, now time.Time) []byte {
	rule := fmt.Sprintf("arn:aws:events:%s:%s:rule/%s%s", s.opts.Region, s.opts.Account, e.function, e.Name)
	payload, _ := json.Marshal(map[string]any{ // strings always marshal
		"version": "0", "id": uuid.NewString(), "detail-type": "Scheduled Event", "source": "aws.events",
		"account": s.opts.Account, "time": now.UTC().Format(time.RFC3339), "region": s.opts.Region,
		"resources": []string{rule}, "detail": map[string]any{},
	})
	return payload
}

// parseRate parses rate(5 minutes).
func parseRate(expression string) (time.Duration, error) {
	parts := regexp.MustCompile(`^rate\((\d+) (minute|hour|day)s?\)$`).FindStringSubmatch(expression)
	if parts == nil {
		return 0, fmt.Errorf("%w, got %s", ErrExpression, expression)
	}
	count, err := strconv.Atoi(parts[1])
	if err != nil || count < 1 {
		return 0, fmt.Errorf("%w, got %s", ErrExpression, expression)
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[parts[2]]
	return time.Duration(count) * unit, nil
}
