package webhookhttp

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/webhook"
)

// statusGone is how a receiver says that it wants no more; what it was sent is
// not delivered, though it is done.
const statusGone = 410

// OnAttempt implements delivery.AttemptObserver: it keeps the record, and disables a webhook
// that has taken nothing for as long as a delivery was tried.
func (n *Notifier) OnAttempt(ctx context.Context, d delivery.Delivery, o delivery.Outcome) error {
	userID, id, ok := webhook.ParseTarget(d.Target)
	if !ok {
		return nil
	}
	err := n.Webhooks.NoteTry(ctx, note(d, o))
	if o.State != delivery.Abandoned || o.URL == "" {
		return err // one that was never sent says nothing of the receiver
	}
	return errors.Join(err, n.disable(ctx, webhook.Disabling{UserID: userID, ID: id, URL: o.URL}, o))
}

func (n *Notifier) disable(ctx context.Context, w webhook.Disabling, o delivery.Outcome) error {
	w.UnchangedSince = o.Try.Queued
	if errors.Is(o.Err, delivery.ErrRefused) {
		w.Reason = webhook.Refused
		return n.Webhooks.DisableWebhook(ctx, w)
	}
	w.Reason = webhook.Failing
	// One that was held up behind others may have been tried for a short while only.
	well, err := n.Webhooks.DeliveredSince(ctx, w.UserID, w.ID, o.Try.Queued)
	if err != nil || well {
		return err
	}
	return n.Webhooks.DisableWebhook(ctx, w)
}

// note is what a try adds to its delivery's record.
func note(d delivery.Delivery, o delivery.Outcome) webhook.Note {
	out := webhook.Note{Delivery: d, Queued: o.Try.Queued.UnixMilli(), State: webhook.Failed}
	if errors.Is(o.Err, delivery.ErrNothing) {
		return out
	}
	out.Number = d.Tries + o.Try.Number
	out.Attempt = webhook.Attempt{
		Time: o.Began.UnixMilli(), Duration: o.Took.Milliseconds(), Status: o.Status, Reason: o.Reason,
	}
	switch {
	case o.State == delivery.Later:
		out.State, out.NextAttemptTime = webhook.Pending, o.Began.Add(o.Took+o.Wait).UnixMilli()
	case o.State == delivery.Done && o.Status == statusGone:
		out.Attempt.Reason = "the target is gone for good"
	case o.State == delivery.Done:
		out.State = webhook.Delivered
	}
	return out
}
