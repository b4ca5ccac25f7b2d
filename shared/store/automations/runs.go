package automations

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// startedItem lists the runs that an automation started recently.
type startedItem struct {
	PK      string          `dynamodbav:"PK"`
	SK      string          `dynamodbav:"SK"`
	Runs    automation.Runs `dynamodbav:"r"`
	Version int64           `dynamodbav:"v"`
	Expires int64           `dynamodbav:"expires"` // epoch seconds
}

const startedVersion = "v"

// CountRun implements automation.Counter.
func (s *Store) CountRun(ctx context.Context, a automation.Automation, runID string) (bool, error) {
	counted, err := records.ContendedValue(ctx, func() (bool, error) { return s.countRun(ctx, a, runID) })
	if err != nil {
		return false, fmt.Errorf("count a run of automation %s: %w", a.ID, err)
	}
	return counted, nil
}

// countRun is one attempt; it returns table.ErrConditionFailed if another run was
// counted concurrently.
func (s *Store) countRun(ctx context.Context, a automation.Automation, runID string) (bool, error) {
	k := startedKey(a.UserID, a.ID)
	var item startedItem
	found, err := s.base.DB.Get(ctx, k, &item)
	if err != nil {
		return false, err
	}
	if _, counted := item.Runs[runID]; counted {
		return true, nil
	}
	runs, ok := item.Runs.Add(runID, s.base.Millis())
	if !ok {
		return false, s.stopRunaway(ctx, a)
	}
	c := table.ItemNotExists()
	if found {
		c = table.Equal(table.At(startedVersion), item.Version)
	}
	next := startedItem{
		PK: k.PK, SK: k.SK, Runs: runs, Version: item.Version + 1,
		Expires: s.base.Now().Add(2 * automation.RunsWithin).Unix(),
	}
	return true, s.base.DB.Put(ctx, next, c)
}

// stopRunaway disables an automation that starts too many runs.
func (s *Store) stopRunaway(ctx context.Context, a automation.Automation) error {
	_, err := s.changeAutomation(ctx, a.UserID, a.ID, func(a automation.Automation) (automation.Automation, error) {
		a.Status, a.DisabledReason, a.UpdatedTime = automation.Disabled, automation.Runaway, s.base.Millis()
		a.Version++
		return a, nil
	})
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return nil
	}
	return err
}
