package outbound

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/receiver"
)

// statusGone is the status with which a receiver refuses all further messages; the
// message is not delivered, but the delivery is over.
const statusGone = 410

// OnAttempt implements delivery.AttemptObserver: it keeps the record, and disables a
// webhook that accepted nothing for as long as a delivery is retried.
func (n *WebhookNotifier) OnAttempt(ctx context.Context, d delivery.Delivery, o delivery.Outcome) error {
	userID, id, ok := receiver.ParseWebhook(d.Target)
	if !ok {
		return nil
	}
	err := n.Webhooks.NoteTry(ctx, note(d, o))
	if o.State != delivery.Abandoned || o.URL == "" {
		return err // a message that was never sent says nothing about the receiver
	}
	return errors.Join(err, n.disable(ctx, receiver.Disabling{UserID: userID, ID: id, URL: o.URL}, o))
}

func (n *WebhookNotifier) disable(ctx context.Context, w receiver.Disabling, o delivery.Outcome) error {
	w.UnchangedSince = o.Try.Queued
	if errors.Is(o.Err, delivery.ErrRefused) {
		w.Reason = receiver.Refused
		return n.Webhooks.DisableWebhook(ctx, w)
	}
	w.Reason = receiver.Failing
	// A delivery that waited behind others may have been tried only for a short time.
	well, err := n.Webhooks.DeliveredSince(ctx, w.UserID, w.ID, o.Try.Queued)
	if err != nil || well {
		return err
	}
	return n.Webhooks.DisableWebhook(ctx, w)
}

// note returns what an attempt adds to its delivery's record.
func note(d delivery.Delivery, o delivery.Outcome) receiver.Note {
	out := receiver.Note{Delivery: d, Queued: o.Try.Queued.UnixMilli(), State: receiver.Failed}
	if errors.Is(o.Err, delivery.ErrNothing) {
		return out
	}
	out.Number = d.Tries + o.Try.Number
	out.Attempt = receiver.Attempt{
		Time: o.Began.UnixMilli(), Duration: o.Took.Milliseconds(), Status: o.Status, Reason: o.Reason,
	}
	switch {
	case o.State == delivery.Later:
		out.State, out.NextAttemptTime = receiver.Pending, o.Began.Add(o.Took+o.Wait).UnixMilli()
	case o.State == delivery.Done && o.Status == statusGone:
		out.Attempt.Reason = "the target is gone for good"
	case o.State == delivery.Done:
		out.State = receiver.Delivered
	}
	return out
}
