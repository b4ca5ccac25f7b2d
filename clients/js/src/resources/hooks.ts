// Webhooks and automations.

import type { List } from '../http/list.js';
import type { CallOptions, ChangeOptions, WriteOptions } from '../http/transport.js';
import type {
  Automation,
  AutomationChange,
  AutomationRequest,
  Delivery,
  Query,
  SecretRotation,
  Webhook,
  WebhookChange,
  WebhookRequest,
  WebhookSecret,
} from '../types.js';
import { Resource } from './resource.js';

/** Resources at a path that are created, read, changed and deleted alike. */
abstract class Rules<T, Request, Change> extends Resource {
  protected abstract readonly path: string;

  list(query?: Query<'listWebhooks'>, options?: CallOptions): List<T> {
    return this.entries(this.path, [], query, options);
  }

  create(request: Request, options?: WriteOptions): Promise<T> {
    return this.data({ method: 'POST', path: this.path, json: request, repeat: 'key' }, options);
  }

  get(id: string, options?: CallOptions): Promise<T> {
    return this.data(
      { method: 'GET', path: `${this.path}/{}`, params: [id], repeat: 'safe' },
      options,
    );
  }

  update(id: string, change: Change, options?: ChangeOptions): Promise<T> {
    return this.data(
      { method: 'PATCH', path: `${this.path}/{}`, params: [id], json: change, repeat: 'safe' },
      options,
    );
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.done(
      { method: 'DELETE', path: `${this.path}/{}`, params: [id], repeat: 'delete' },
      options,
    );
  }
}

export class Automations extends Rules<Automation, AutomationRequest, AutomationChange> {
  protected readonly path = '/automations';
}

export class Webhooks extends Rules<Webhook, WebhookRequest, WebhookChange> {
  protected readonly path = '/webhooks';

  /** Sends a test message. */
  test(id: string, options?: WriteOptions): Promise<Delivery> {
    return this.data(
      { method: 'POST', path: '/webhooks/{}/test', params: [id], repeat: 'key' },
      options,
    );
  }

  secret(id: string, options?: CallOptions): Promise<WebhookSecret> {
    return this.data(
      { method: 'GET', path: '/webhooks/{}/secret', params: [id], repeat: 'safe' },
      options,
    );
  }

  rotateSecret(
    id: string,
    rotation: SecretRotation = {},
    options?: WriteOptions,
  ): Promise<WebhookSecret> {
    const path = '/webhooks/{}/secret/rotate';
    return this.data(
      { method: 'POST', path, params: [id], json: rotation, repeat: 'key' },
      options,
    );
  }

  deliveries(id: string, query?: Query<'listDeliveries'>, options?: CallOptions): List<Delivery> {
    return this.entries('/webhooks/{}/deliveries', [id], query, options);
  }

  delivery(id: string, deliveryId: string, options?: CallOptions): Promise<Delivery> {
    const path = '/webhooks/{}/deliveries/{}';
    return this.data({ method: 'GET', path, params: [id, deliveryId], repeat: 'safe' }, options);
  }

  /** Sends a delivery again. */
  replay(id: string, deliveryId: string, options?: WriteOptions): Promise<Delivery> {
    const path = '/webhooks/{}/deliveries/{}/replay';
    return this.data({ method: 'POST', path, params: [id, deliveryId], repeat: 'key' }, options);
  }
}
