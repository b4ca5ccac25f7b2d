package outbound

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
)

var (
	_ delivery.MessageBuilder  = (*WebhookNotifier)(nil)
	_ delivery.AttemptObserver = (*WebhookNotifier)(nil)
)

// WebhookNotifier builds the messages for webhooks by the Standard Webhooks specification
// (https://www.standardwebhooks.com), CloudEvents that are signed with the webhook's
// secrets, and records their outcome.
type WebhookNotifier struct {
	Webhooks receiver.WebhookTargets
	Now      func() time.Time
}

// Messages implements delivery.MessageBuilder. Body and webhook-id are the same in
// each attempt; the time, and so the signature, are those of the attempt.
func (n *WebhookNotifier) Messages(ctx context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	userID, id, ok := receiver.ParseWebhook(d.Target)
	if !ok {
		return nil, fmt.Errorf("%w: no webhook is named %q", delivery.ErrGone, d.Target.Name)
	}
	w, err := n.Webhooks.Webhook(ctx, userID, id)
	if err == nil && w.Status != receiver.Active {
		return nil, fmt.Errorf("%w: the webhook is disabled", delivery.ErrNothing)
	}
	var secrets receiver.Secrets
	if err == nil {
		secrets, err = n.Webhooks.Secrets(ctx, userID, id)
	}
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return nil, fmt.Errorf("%w: the webhook", delivery.ErrGone)
	}
	if err != nil {
		return nil, err
	}
	body, err := notification.EncodeCloudEvent(d.Event)
	if err != nil {
		return nil, err
	}
	now, name := n.Now(), receiver.DeliveryID(d)
	signature, err := sign(secrets.At(now), name, now, body)
	if err != nil {
		return nil, err
	}
	return []delivery.Message{{URL: w.URL, Body: body, Header: map[string]string{
		"Content-Type":                          notification.CloudEventType,
		standardwebhooks.HeaderWebhookID:        name,
		standardwebhooks.HeaderWebhookTimestamp: strconv.FormatInt(now.Unix(), 10),
		standardwebhooks.HeaderWebhookSignature: signature,
	}}}, nil
}

// sign signs with each secret, so that receivers can change from one to another.
func sign(secrets []receiver.Secret, id string, now time.Time, body []byte) (string, error) {
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
func (n *WebhookNotifier) Drop(ctx context.Context, t delivery.Target, url string) error {
	userID, id, ok := receiver.ParseWebhook(t)
	if !ok {
		return nil
	}
	return n.Webhooks.DisableWebhook(ctx, receiver.Disabling{UserID: userID, ID: id, URL: url, Reason: receiver.Gone})
}
