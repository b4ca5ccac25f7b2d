package rethread

import "context"

// Webhooks has the calls about receivers of events.
type Webhooks struct{ resource }

// List lists the user's webhooks.
func (w *Webhooks) List(q ListQuery, opts ...Option) List[Webhook] {
	return entries[Webhook](w.resource, listQuery(q.Limit, q.Cursor), opts, "/webhooks")
}

// Create creates a webhook. The answer has its secret.
func (w *Webhooks) Create(ctx context.Context, request WebhookRequest, opts ...Option) (Webhook, error) {
	return data[Webhook](ctx, w.resource, post(repeatKey, request, "/webhooks"), opts)
}

// Get returns a webhook.
func (w *Webhooks) Get(ctx context.Context, id string, opts ...Option) (Webhook, error) {
	return data[Webhook](ctx, w.resource, get("/webhooks/{}", id), opts)
}

// Update replaces members of a webhook.
func (w *Webhooks) Update(ctx context.Context, id string, change WebhookChange, opts ...Option) (Webhook, error) {
	return data[Webhook](ctx, w.resource, patch(change, "/webhooks/{}", id), opts)
}

// Delete deletes a webhook.
func (w *Webhooks) Delete(ctx context.Context, id string, opts ...Option) error {
	return w.done(ctx, remove("/webhooks/{}", id), opts)
}

// Test sends a test message.
func (w *Webhooks) Test(ctx context.Context, id string, opts ...Option) (Delivery, error) {
	return data[Delivery](ctx, w.resource, post(repeatKey, nil, "/webhooks/{}/test", id), opts)
}

// Secret returns the secret.
func (w *Webhooks) Secret(ctx context.Context, id string, opts ...Option) (WebhookSecret, error) {
	return data[WebhookSecret](ctx, w.resource, get("/webhooks/{}/secret", id), opts)
}

// RotateSecret replaces the secret.
func (w *Webhooks) RotateSecret(ctx context.Context, id string, rotation SecretRotation, opts ...Option) (WebhookSecret, error) {
	return data[WebhookSecret](ctx, w.resource, post(repeatKey, rotation, "/webhooks/{}/secret/rotate", id), opts)
}

// Deliveries lists deliveries, latest events first.
func (w *Webhooks) Deliveries(id string, q ListQuery, opts ...Option) List[Delivery] {
	return entries[Delivery](w.resource, listQuery(q.Limit, q.Cursor), opts, "/webhooks/{}/deliveries", id)
}

// Delivery returns a delivery.
func (w *Webhooks) Delivery(ctx context.Context, id, deliveryID string, opts ...Option) (Delivery, error) {
	return data[Delivery](ctx, w.resource, get("/webhooks/{}/deliveries/{}", id, deliveryID), opts)
}

// Replay sends a delivery again.
func (w *Webhooks) Replay(ctx context.Context, id, deliveryID string, opts ...Option) (Delivery, error) {
	return data[Delivery](ctx, w.resource, post(repeatKey, nil, "/webhooks/{}/deliveries/{}/replay", id, deliveryID), opts)
}

// Automations has the calls about rules that start runs.
type Automations struct{ resource }

// List lists the user's automations.
func (a *Automations) List(q ListQuery, opts ...Option) List[Automation] {
	return entries[Automation](a.resource, listQuery(q.Limit, q.Cursor), opts, "/automations")
}

// Create creates an automation.
func (a *Automations) Create(ctx context.Context, request AutomationRequest, opts ...Option) (Automation, error) {
	return data[Automation](ctx, a.resource, post(repeatKey, request, "/automations"), opts)
}

// Get returns an automation.
func (a *Automations) Get(ctx context.Context, id string, opts ...Option) (Automation, error) {
	return data[Automation](ctx, a.resource, get("/automations/{}", id), opts)
}

// Update replaces members of an automation.
func (a *Automations) Update(ctx context.Context, id string, change AutomationChange, opts ...Option) (Automation, error) {
	return data[Automation](ctx, a.resource, patch(change, "/automations/{}", id), opts)
}

// Delete deletes an automation.
func (a *Automations) Delete(ctx context.Context, id string, opts ...Option) error {
	return a.done(ctx, remove("/automations/{}", id), opts)
}
