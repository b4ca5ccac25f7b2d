package deliveries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Automations stores automations in a table. It is safe for concurrent use.
type Automations struct {
	lifecycle.Nothing
	base    records.Base
	content *records.Codec
	lanes   *Lanes
}

var (
	_ automation.Store    = (*Automations)(nil)
	_ automation.Counter  = (*Automations)(nil)
	_ lifecycle.Dependent = (*Automations)(nil)
)

// NewAutomations returns the store of a table and of the lanes in it.
func NewAutomations(base records.Base, codec *records.Codec, lanes *Lanes) *Automations {
	return &Automations{base: base, content: codec, lanes: lanes}
}

// CreateAutomation implements automation.Store.
func (s *Automations) CreateAutomation(ctx context.Context, a automation.Automation) (automation.Automation, error) {
	return records.ContendedValue(ctx, func() (automation.Automation, error) { return s.tryCreateAutomation(ctx, a) })
}

// tryCreateAutomation puts an automation in the first free slot; it returns
// table.ErrConditionFailed if the slot was taken concurrently.
func (s *Automations) tryCreateAutomation(ctx context.Context, a automation.Automation) (automation.Automation, error) {
	items, err := s.automationItems(ctx, a.UserID)
	if err != nil {
		return automation.Automation{}, err
	}
	taken := map[string]bool{}
	for _, item := range items {
		if item.ID == a.ID {
			return s.automationOf(a.UserID, item)
		}
		taken[item.SK] = true
	}
	place := 0
	for place < automation.MaxAutomations && taken[automationSK(place)] {
		place++
	}
	if place == automation.MaxAutomations {
		return automation.Automation{}, fault.New(fault.LimitReached,
			"a user has at most %d automations", automation.MaxAutomations)
	}
	return a, s.putAutomation(ctx, automationSK(place), a, table.ItemNotExists())
}

// Automation implements automation.Store.
func (s *Automations) Automation(ctx context.Context, userID, id string) (automation.Automation, error) {
	item, err := s.automationItem(ctx, userID, id)
	if err != nil {
		return automation.Automation{}, err
	}
	return s.automationOf(userID, *item)
}

// Automations implements automation.Store. For most users it takes one read unit.
func (s *Automations) Automations(ctx context.Context, userID string) ([]automation.Automation, error) {
	items, err := s.automationItems(ctx, userID)
	if err != nil {
		return nil, err
	}
	var all []automation.Automation
	for _, item := range items {
		a, err := s.automationOf(userID, item)
		if err != nil {
			s.base.LeftOut(ctx, table.NewKey(item.PK, item.SK), err)
			continue
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b automation.Automation) int {
		return cmp.Or(cmp.Compare(a.CreatedTime, b.CreatedTime), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// ChangeAutomation implements automation.Store.
func (s *Automations) ChangeAutomation(
	ctx context.Context, userID, id string, c automation.Change,
) (automation.Automation, error) {
	return s.changeAutomation(ctx, userID, id, func(a automation.Automation) (automation.Automation, error) {
		if c.IfMatch != nil && *c.IfMatch != a.Version {
			return a, fault.New(fault.Precondition, "the automation has changed: its ETag is %q now", fmt.Sprint(a.Version))
		}
		return c.Apply(a, s.base.Millis())
	})
}

// changeAutomation writes a change if the stored version is still the one it was
// based on.
func (s *Automations) changeAutomation(
	ctx context.Context, userID, id string, change func(automation.Automation) (automation.Automation, error),
) (automation.Automation, error) {
	return records.ContendedValue(ctx, func() (automation.Automation, error) {
		item, err := s.automationItem(ctx, userID, id)
		if err != nil {
			return automation.Automation{}, err
		}
		a, err := s.automationOf(userID, *item)
		if err != nil {
			return automation.Automation{}, err
		}
		if a, err = change(a); err != nil {
			return automation.Automation{}, err
		}
		return a, s.putAutomation(ctx, item.SK, a, item.same())
	})
}

// DeleteAutomation implements automation.Store. The list of its runs and its lanes,
// none of which is idle, are removed too; if that is interrupted, the list expires,
// and the lanes' next passes remove the rest.
func (s *Automations) DeleteAutomation(ctx context.Context, userID, id string) error {
	item, err := s.automationItem(ctx, userID, id)
	if err != nil {
		return err
	}
	err = s.base.DB.Delete(ctx, table.NewKey(item.PK, item.SK), table.Equal(table.Path{automationID}, id))
	if errors.Is(err, table.ErrConditionFailed) {
		return missingAutomation()
	}
	if err != nil {
		return fmt.Errorf("delete automation %s: %w", id, err)
	}
	if err := s.base.DB.Delete(ctx, startedKey(userID, id), nil); err != nil {
		return fmt.Errorf("delete the runs of automation %s: %w", id, err)
	}
	return s.lanes.Forget(ctx, automation.Family(userID, id))
}
