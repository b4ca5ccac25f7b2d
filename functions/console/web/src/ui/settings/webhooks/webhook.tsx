// One webhook: its state, its secret, and its deliveries.

import { useMemo, useState } from 'preact/hooks';
import type { Webhook as Hook } from 'rethread';
import { Link, useLocation } from 'wouter-preact';
import { Deliveries } from '../../../store/deliveries';
import type { Loaded } from '../../../store/loaded';
import { Once } from '../../../store/once';
import { useApp, useView } from '../../context';
import { useBusy } from '../../kit/busy';
import { Confirm } from '../../kit/confirm';
import { exact } from '../../kit/time';
import { Shown, useLoaded } from '../loaded';
import { Section } from '../section';
import { DeliveryList } from './deliveries';
import { Secret } from './secret';
import { filterWords, markOf, whyDisabled } from './words';

export function Webhook({ id }: { id: string }) {
  const { api } = useApp();
  const webhook = useLoaded(`webhook ${id}`, () => api.webhooks.get(id));
  const deliveries = useMemo(() => new Deliveries(api, id), [api, id]);
  const hook = webhook.value.value;
  return (
    <Section
      title={hook?.description || 'Webhook'}
      back={{ href: '/settings/webhooks', label: 'Webhooks' }}
    >
      <Shown of={webhook}>
        {(shown) => (
          <>
            <State webhook={shown} of={webhook} />
            <Facts webhook={shown} />
            <Actions webhook={shown} deliveries={deliveries} />
            <Secret webhook={id} />
            <DeliveryList webhook={id} deliveries={deliveries} />
          </>
        )}
      </Shown>
    </Section>
  );
}

function State({ webhook, of: loaded }: { webhook: Hook; of: Loaded<Hook> }) {
  const { api, toasts } = useApp();
  const [busy, once] = useBusy(toasts);
  const active = webhook.status === 'active';
  const mark = markOf(webhook);
  const set = async (status: Hook['status']) =>
    loaded.changed(await api.webhooks.update(webhook.id, { status }));
  return (
    <div class="settings-actions">
      <span class={`state-mark ${mark.kind}`}>{mark.text}</span>
      {!active && (
        <p class="hint">
          {whyDisabled(webhook)} It receives nothing, and what happens meanwhile is not sent later.
        </p>
      )}
      <button
        type="button"
        class="button small"
        disabled={busy}
        onClick={() => once(() => set(active ? 'disabled' : 'active'))}
      >
        {active ? 'Pause' : 'Activate'}
      </button>
    </div>
  );
}

function Facts({ webhook }: { webhook: Hook }) {
  return (
    <dl class="facts">
      <dt>Address</dt>
      <dd>{webhook.url}</dd>
      <dt>Events</dt>
      <dd>{filterWords(webhook)}</dd>
      {webhook.session_ids.length > 0 && (
        <>
          <dt>Chats</dt>
          <dd>{webhook.session_ids.join(', ')}</dd>
        </>
      )}
      <dt>Created</dt>
      <dd>{exact(webhook.created_time)}</dd>
      <dt>Id</dt>
      <dd>{webhook.id}</dd>
    </dl>
  );
}

function Actions({ webhook, deliveries }: { webhook: Hook; deliveries: Deliveries }) {
  const { api, toasts } = useApp();
  const { dialog } = useView();
  const [, navigate] = useLocation();
  const [busy, run] = useBusy(toasts);
  const [once] = useState(() => new Once());
  const { id } = webhook;
  const test = async () => {
    deliveries.expect(
      await once.write('test', (idempotencyKey) => api.webhooks.test(id, { idempotencyKey })),
    );
    toasts.say('A test is being sent.');
  };
  const remove = async () => {
    await api.webhooks.delete(id);
    toasts.say('The webhook was deleted.');
    navigate('/settings/webhooks');
  };
  return (
    <div class="settings-actions">
      <Link href={`/settings/webhooks/${id}/edit`} class="button small">
        Edit
      </Link>
      <button
        type="button"
        class="button small"
        disabled={busy || webhook.status !== 'active'}
        onClick={() => run(test)}
      >
        Send a test
      </button>
      <button
        type="button"
        class="button small"
        onClick={() => {
          dialog.value = (
            <Confirm title="Delete webhook?" action="Delete" run={remove}>
              <p>
                Nothing more is sent to <b>{webhook.url}</b>. Its secret and the record of its
                deliveries are deleted too. This cannot be undone.
              </p>
            </Confirm>
          );
        }}
      >
        Delete
      </button>
    </div>
  );
}
