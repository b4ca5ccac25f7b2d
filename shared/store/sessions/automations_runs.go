package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

var _ automation.Counter = (*Store)(nil)

// startedItem is the runs that an automation started lately.
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

// countRun is one try; table.ErrConditionFailed where another run was counted meanwhile.
func (s *Store) countRun(ctx context.Context, a automation.Automation, runID string) (bool, error) {
	k := startedKey(a.UserID, a.ID)
	var item startedItem
	found, err := s.db.Get(ctx, k, &item)
	if err != nil {
		return false, err
	}
	if _, counted := item.Runs[runID]; counted {
		return true, nil
	}
	runs, ok := item.Runs.Add(runID, s.millis())
	if !ok {
		return false, s.stopRunaway(ctx, a)
	}
	c := table.ItemNotExists()
	if found {
		c = table.Equal(table.At(startedVersion), item.Version)
	}
	next := startedItem{
		PK: k.PK, SK: k.SK, Runs: runs, Version: item.Version + 1,
		Expires: s.now().Add(2 * automation.RunsWithin).Unix(),
	}
	return true, s.db.Put(ctx, next, c)
}

// stopRunaway disables an automation that starts too many runs.
func (s *Store) stopRunaway(ctx context.Context, a automation.Automation) error {
	_, err := s.changeAutomation(ctx, a.UserID, a.ID, func(a automation.Automation) (automation.Automation, error) {
		a.Status, a.DisabledReason, a.UpdatedTime = automation.Disabled, automation.Runaway, s.millis()
		a.Version++
		return a, nil
	})
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return nil
	}
	return err
}

// automationTargets are the automations of a user that act on an event.
func (s *Store) automationTargets(ctx context.Context, e delivery.Event) ([]delivery.Target, error) {
	if !e.Type.Public() || e.UserID == "" {
		return nil, nil
	}
	all, err := s.Automations(ctx, e.UserID)
	if err != nil {
		return nil, err
	}
	var targets []delivery.Target
	for _, a := range all {
		if a.Wants(e) {
			targets = append(targets, automation.Target(e.UserID, a.ID, e.SessionID))
		}
	}
	return targets, nil
}

// eraseAutomations removes the automations that a user had when an erasure
// began, what is known of their runs, and what waits for them.
func (s *Store) eraseAutomations(ctx context.Context, e *erasureItem) error {
	items, err := s.automationItems(ctx, e.User)
	if err != nil {
		return err
	}
	var doomed []table.Item
	var gone []string
	for _, item := range items {
		if item.Created <= e.Started {
			doomed = append(doomed, table.NewKey(item.PK, item.SK).Item(), startedKey(e.User, item.ID).Item())
			gone = append(gone, item.ID)
			e.Removed.Automations++
		}
	}
	if err := s.db.DeleteItems(ctx, doomed); err != nil {
		return err
	}
	return records.EachOf(ctx, gone, func(id string) error { return s.forgetLanes(ctx, automation.Family(e.User, id)) })
}
