package deliveries

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/table"
)

// NoteQueued implements receiver.Webhooks.
func (s *Webhooks) NoteQueued(ctx context.Context, d delivery.Delivery) (receiver.Record, error) {
	userID, id, ok := receiver.ParseWebhook(d.Target)
	if !ok {
		return receiver.Record{}, missingWebhook()
	}
	err := s.noteRecord(ctx, receiver.Note{
		Delivery: d, Queued: s.base.Millis(), State: receiver.Pending, NextAttemptTime: s.base.Millis(),
	})
	if err != nil {
		return receiver.Record{}, err
	}
	return s.Record(ctx, userID, id, receiver.DeliveryID(d))
}

// NoteTry implements receiver.WebhookTargets.
func (s *Webhooks) NoteTry(ctx context.Context, n receiver.Note) error {
	var conditions []table.Condition
	if n.Number == 0 {
		conditions = append(conditions, table.ItemExists())
	}
	if err := s.noteRecord(ctx, n, conditions...); !errors.Is(err, table.ErrConditionFailed) {
		return err
	}
	return nil
}

// noteRecord creates or changes a record by one write.
func (s *Webhooks) noteRecord(ctx context.Context, n receiver.Note, conditions ...table.Condition) error {
	userID, id, ok := receiver.ParseWebhook(n.Delivery.Target)
	if !ok {
		return nil
	}
	event, err := jsonx.Marshal(n.Delivery.Event)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	changes := append(noteChanges(n),
		table.Set(table.Path{recordEvent}, string(event)),
		table.Set(table.Path{recordExpires}, s.base.Now().Add(receiver.KeepRecords).Unix()))
	return s.base.DB.Update(ctx, recordKey(userID, id, receiver.DeliveryID(n.Delivery)), changes, conditions...)
}

// noteChanges returns the changes that a note makes to the record of its delivery.
func noteChanges(n receiver.Note) []table.Change {
	changes := []table.Change{
		table.Set(table.Path{recordState}, string(n.State)),
		table.SetIfAbsent(table.Path{recordCreated}, n.Queued),
		table.Set(table.Path{recordNext}, n.NextAttemptTime),
	}
	if n.Number == 0 {
		changes = append(changes, table.SetIfAbsent(table.Path{recordTries}, n.Number))
	} else {
		changes = append(changes, table.Set(table.Path{recordTries}, n.Number),
			table.Set(table.Path{attemptAttribute(n.Number % receiver.MaxAttempts)}, attemptItem(n.Attempt)))
	}
	if n.State == receiver.Delivered {
		changes = append(changes, table.Set(table.Path{recordDelivered}, n.Attempt.Time))
	}
	return changes
}
