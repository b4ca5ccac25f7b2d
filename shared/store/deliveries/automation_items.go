package deliveries

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// automationItem is one automation. Its sort key is one of a fixed number of slots,
// which limits how many a user can have.
type automationItem struct {
	PK      string            `dynamodbav:"PK"`
	SK      string            `dynamodbav:"SK"` // its slot
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
	// Proof is absent where everybody may call the agent.
	Proof []string `json:"pf,omitempty"`
}

func (s *Automations) putAutomation(ctx context.Context, sk string, a automation.Automation, c table.Condition) error {
	body, err := s.content.Encode(automationBody{Name: a.Name, On: a.On, Do: a.Do, Proof: a.Proof})
	if err != nil {
		return err
	}
	err = s.base.DB.Put(ctx, automationItem{
		PK: automationPK(a.UserID), SK: sk, ID: a.ID, Status: a.Status, Reason: a.DisabledReason,
		Created: a.CreatedTime, Updated: a.UpdatedTime, Version: a.Version, Body: body,
	}, c)
	if err != nil {
		return fmt.Errorf("put automation %s: %w", a.ID, err)
	}
	return nil
}

// same is the condition that the item is still the one that was read.
func (i *automationItem) same() table.Condition {
	return table.And(table.Equal(table.Path{automationID}, i.ID), table.Equal(table.Path{automationVersion}, i.Version))
}

func (s *Automations) automationItem(ctx context.Context, userID, id string) (*automationItem, error) {
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

func (s *Automations) automationItems(ctx context.Context, userID string) ([]automationItem, error) {
	var all []automationItem
	err := s.base.DB.Pages(ctx, records.Partition(automationPK(userID)), func(page []table.Item) (bool, error) {
		all = append(all, records.DecodeItems[automationItem](ctx, s.base, page)...)
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read automations: %w", err)
	}
	return all, nil
}

func (s *Automations) automationOf(userID string, i automationItem) (automation.Automation, error) {
	var body automationBody
	if err := s.content.Decode(i.Body, &body); err != nil {
		return automation.Automation{}, fmt.Errorf("automation %s: %w", i.ID, err)
	}
	return automation.Automation{
		ID: i.ID, UserID: userID, Name: body.Name, On: body.On, Do: body.Do, Proof: body.Proof,
		Status: i.Status, DisabledReason: i.Reason, CreatedTime: i.Created, UpdatedTime: i.Updated, Version: i.Version,
	}, nil
}

func missingAutomation() error { return fault.Missing("Automation") }
