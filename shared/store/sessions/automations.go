package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

var _ automation.Store = (*Store)(nil)

// automationItem is one automation. It stands at one of the places that a user
// has for them, so that there cannot be more.
type automationItem struct {
	PK      string            `dynamodbav:"PK"`
	SK      string            `dynamodbav:"SK"` // its place
	ID      string            `dynamodbav:"id"`
	Status  automation.Status `dynamodbav:"st"`
	Reason  automation.Reason `dynamodbav:"rn,omitempty"`
	Created int64             `dynamodbav:"ct"`
	Updated int64             `dynamodbav:"ut"`
	Version int64             `dynamodbav:"v"`
	Body    []byte            `dynamodbav:"b"`
}

const (
	automationID      = "id"
	automationVersion = "v"
)

type automationBody struct {
	Name string             `json:"n,omitempty"`
	On   automation.Trigger `json:"on"`
	Do   automation.Action  `json:"do"`
}

// CreateAutomation implements automation.Store.
func (s *Store) CreateAutomation(ctx context.Context, a automation.Automation) (automation.Automation, error) {
	return records.ContendedValue(ctx, func() (automation.Automation, error) { return s.tryCreateAutomation(ctx, a) })
}

// tryCreateAutomation puts an automation at the first free place;
// table.ErrConditionFailed where another took the place meanwhile.
func (s *Store) tryCreateAutomation(ctx context.Context, a automation.Automation) (automation.Automation, error) {
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
		return automation.Automation{}, fault.New(fault.Conflict,
			"a user has at most %d automations", automation.MaxAutomations)
	}
	return a, s.putAutomation(ctx, automationSK(place), a, table.ItemNotExists())
}

func (s *Store) putAutomation(ctx context.Context, sk string, a automation.Automation, c table.Condition) error {
	body, err := s.content.Encode(automationBody{Name: a.Name, On: a.On, Do: a.Do})
	if err != nil {
		return err
	}
	err = s.db.Put(ctx, automationItem{
		PK: automationPK(a.UserID), SK: sk, ID: a.ID, Status: a.Status, Reason: a.DisabledReason,
		Created: a.CreatedTime, Updated: a.UpdatedTime, Version: a.Version, Body: body,
	}, c)
	if err != nil {
		return fmt.Errorf("put automation %s: %w", a.ID, err)
	}
	return nil
}

// Automation implements automation.Store.
func (s *Store) Automation(ctx context.Context, userID, id string) (automation.Automation, error) {
	item, err := s.automationItem(ctx, userID, id)
	if err != nil {
		return automation.Automation{}, err
	}
	return s.automationOf(userID, *item)
}

// Automations implements automation.Store. As many as most users have take one
// read unit.
func (s *Store) Automations(ctx context.Context, userID string) ([]automation.Automation, error) {
	items, err := s.automationItems(ctx, userID)
	if err != nil {
		return nil, err
	}
	var all []automation.Automation
	for _, item := range items {
		a, err := s.automationOf(userID, item)
		if err != nil {
			s.leftOut(ctx, table.NewKey(item.PK, item.SK), err)
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
func (s *Store) ChangeAutomation(
	ctx context.Context, userID, id string, c automation.Change,
) (automation.Automation, error) {
	return s.changeAutomation(ctx, userID, id, func(a automation.Automation) (automation.Automation, error) {
		if c.IfMatch != nil && *c.IfMatch != a.Version {
			return a, fault.New(fault.Precondition, "the automation has changed: its ETag is %q now", fmt.Sprint(a.Version))
		}
		return c.Apply(a, s.millis())
	})
}

// changeAutomation writes a change over the version that it was made of.
func (s *Store) changeAutomation(
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

// DeleteAutomation implements automation.Store. Its lanes, of which none is idle, go
// with it; where that is cut short their next turns remove what is left of them.
func (s *Store) DeleteAutomation(ctx context.Context, userID, id string) error {
	item, err := s.automationItem(ctx, userID, id)
	if err != nil {
		return err
	}
	err = s.db.Delete(ctx, table.NewKey(item.PK, item.SK), table.Equal(table.At(automationID), id))
	if errors.Is(err, table.ErrConditionFailed) {
		return missingAutomation()
	}
	if err != nil {
		return fmt.Errorf("delete automation %s: %w", id, err)
	}
	return s.forgetLanes(ctx, automation.Family(userID, id))
}

// same is the condition that the item is still the one that was read.
func (i *automationItem) same() table.Condition {
	return table.And(table.Equal(table.At(automationID), i.ID), table.Equal(table.At(automationVersion), i.Version))
}

func (s *Store) automationItem(ctx context.Context, userID, id string) (*automationItem, error) {
	items, err := s.automationItems(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.ID == id {
			return &item, nil
		}
	}
	return nil, missingAutomation()
}

func (s *Store) automationItems(ctx context.Context, userID string) ([]automationItem, error) {
	var all []automationItem
	err := s.db.Pages(ctx, records.Partition(automationPK(userID)), func(page []table.Item) (bool, error) {
		all = append(all, decodeItems[automationItem](ctx, s, page)...)
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read automations: %w", err)
	}
	return all, nil
}

func (s *Store) automationOf(userID string, i automationItem) (automation.Automation, error) {
	var body automationBody
	if err := s.content.Decode(i.Body, &body); err != nil {
		return automation.Automation{}, fmt.Errorf("automation %s: %w", i.ID, err)
	}
	return automation.Automation{
		ID: i.ID, UserID: userID, Name: body.Name, On: body.On, Do: body.Do,
		Status: i.Status, DisabledReason: i.Reason, CreatedTime: i.Created, UpdatedTime: i.Updated, Version: i.Version,
	}, nil
}

func missingAutomation() error { return fault.Missing("Automation") }
