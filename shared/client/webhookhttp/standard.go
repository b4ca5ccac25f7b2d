// Package webhookhttp builds messages for webhooks by the Standard Webhooks
// specification (https://www.standardwebhooks.com): CloudEvents, signed with the
// webhook's secrets.
package webhookhttp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/cloudevent"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/webhook"
)

var (
	_ delivery.MessageBuilder  = (*Notifier)(nil)
	_ delivery.AttemptObserver = (*Notifier)(nil)
)

// Notifier builds the messages for webhooks and records their outcome.
type Notifier struct {
	Webhooks webhook.Targets
	Now      func() time.Time
}

// Messages implements delivery.MessageBuilder. Body and webhook-id are the same in
// each attempt; the time, and so the signature, are those of the attempt.
func (n *Notifier) Messages(ctx context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	userID, id, ok := webhook.ParseTarget(d.Target)
	if !ok {
		return nil, fmt.Errorf("%w: no webhook is named %q", delivery.ErrGone, d.Target.Name)
	}
	w, err := n.Webhooks.Webhook(ctx, userID, id)
	if err == nil && w.Status != webhook.Active {
		return nil, fmt.Errorf("%w: the webhook is disabled", delivery.ErrNothing)
	}
	var secrets webhook.Secrets
	if err == nil {
		secrets, err = n.Webhooks.Secrets(ctx, userID, id)
	}
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return nil, fmt.Errorf("%w: the webhook", delivery.ErrGone)
	}
	if err != nil {
		return nil, err
	}
	body, err := cloudevent.Encode(d.Event)
	if err != nil {
		return nil, err
	}
	now, name := n.Now(), webhook.DeliveryID(d)
	signature, err := sign(secrets.At(now), name, now, body)
	if err != nil {
		return nil, err
	}
	return []delivery.Message{{URL: w.URL, Body: body, Header: map[string]string{
		"Content-Type":                          cloudevent.ContentType,
		standardwebhooks.HeaderWebhookID:        name,
		standardwebhooks.HeaderWebhookTimestamp: strconv.FormatInt(now.Unix(), 10),
		standardwebhooks.HeaderWebhookSignature: signature,
	}}}, nil
}

// sign signs with each secret, so that receivers can change from one to another.
func sign(secrets []webhook.Secret, id string, now time.Time, body []byte) (string, error) {
	signatures := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(string(secret))
		if err != nil {
			return "", errors.New("a webhook's secret cannot be read") // the cause may quote it
		}
		signature, err := signer.Sign(id, now, body)
		if err != nil {
			return "", fmt.Errorf("sign a message: %w", err)
		}
		signatures = append(signatures, signature)
	}
	return strings.Join(signatures, " "), nil
}

// Drop implements delivery.MessageBuilder: a webhook whose receiver is gone is
// disabled, and its owner can still see it.
func (n *Notifier) Drop(ctx context.Context, t delivery.Target, url string) error {
	userID, id, ok := webhook.ParseTarget(t)
	if !ok {
		return nil
	}
	return n.Webhooks.DisableWebhook(ctx, webhook.Disabling{UserID: userID, ID: id, URL: url, Reason: webhook.Gone})
}
