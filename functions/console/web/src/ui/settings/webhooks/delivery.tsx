// One delivery: its message, its attempts, and sending it again.

import { useEffect, useState } from 'preact/hooks';
import type { Delivery as DeliveryRecord } from 'rethread';
import { Link } from 'wouter-preact';
import type { Loaded } from '../../../store/loaded';
import { Once } from '../../../store/once';
import { useApp } from '../../context';
import { useBusy } from '../../kit/busy';
import { CopyButton } from '../../kit/copy-button';
import { exact } from '../../kit/time';
import { eventWords } from '../event-words';
import { Shown, useLoaded } from '../loaded';
import { Section } from '../section';
import { deliveryMark, resultOf } from './words';

const POLL_INTERVAL = 2000; // milliseconds, while an attempt is due

export function Delivery({ webhook, id }: { webhook: string; id: string }) {
  const { api } = useApp();
  const delivery = useLoaded(`delivery ${id}`, () => api.webhooks.delivery(webhook, id));
  useDue(delivery);
  return (
    <Section title="Delivery" back={{ href: `/settings/webhooks/${webhook}`, label: 'Webhook' }}>
      <Shown of={delivery}>
        {(record) => (
          <>
            <Facts delivery={record} />
            <Replay webhook={webhook} of={delivery} />
            <Attempts delivery={record} />
            {record.event && <Message event={record.event} />}
          </>
        )}
      </Shown>
    </Section>
  );
}

function useDue(delivery: Loaded<DeliveryRecord>): void {
  const record = delivery.value.value;
  useEffect(() => {
    if (record?.state !== 'pending') return;
    const due = (record.next_attempt_time ?? 0) - Date.now();
    const wait = Math.min(Math.max(due, POLL_INTERVAL), 2 ** 31 - 1);
    const timer = setTimeout(() => void delivery.reload(), wait);
    return () => clearTimeout(timer);
  }, [delivery, record]);
}

function Facts({ delivery }: { delivery: DeliveryRecord }) {
  const { text, kind } = deliveryMark(delivery);
  const { session_id: session, next_attempt_time: next } = delivery;
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <span class={`state-mark ${kind}`} data-testid="delivery-state">
          {text}
        </span>
      </dd>
      <dt>Event</dt>
      <dd>
        {eventWords(delivery.event_type)} <code>{delivery.event_type}</code>
      </dd>
      {session && (
        <>
          <dt>Chat</dt>
          <dd>
            <Link href={`/s/${encodeURIComponent(session)}`}>{session}</Link>
          </dd>
        </>
      )}
      <dt>Created</dt>
      <dd>{exact(delivery.created_time)}</dd>
      <dt>Attempts</dt>
      <dd>{delivery.tries}</dd>
      {next !== null && (
        <>
          <dt>Next attempt</dt>
          <dd>{exact(next)}</dd>
        </>
      )}
      <dt>Message id</dt>
      <dd>
        <code>{delivery.id}</code>
      </dd>
    </dl>
  );
}

function Replay({ webhook, of: delivery }: { webhook: string; of: Loaded<DeliveryRecord> }) {
  const { api, toasts } = useApp();
  const [busy, run] = useBusy(toasts);
  const [once] = useState(() => new Once());
  const replay = async () => {
    const id = delivery.value.value?.id ?? '';
    const record = await once.write(id, (idempotencyKey) =>
      api.webhooks.replay(webhook, id, { idempotencyKey }),
    );
    delivery.changed({ ...record, event: delivery.value.value?.event });
    toasts.say('It is being sent again, with the same id and body.');
  };
  return (
    <div class="settings-actions">
      <button type="button" class="button small" disabled={busy} onClick={() => run(replay)}>
        Send again
      </button>
    </div>
  );
}

function Message({ event }: { event: object }) {
  const text = JSON.stringify(event, null, 2);
  return (
    <section class="group" aria-labelledby="message">
      <div class="settings-head">
        <h3 id="message">Body</h3>
        <CopyButton text={JSON.stringify(event)} />
      </div>
      <pre class="body-text" data-testid="delivery-body">
        {text}
      </pre>
    </section>
  );
}

function Attempts({ delivery: { attempts, tries } }: { delivery: DeliveryRecord }) {
  return (
    <section class="group" aria-labelledby="attempts">
      <h3 id="attempts">Attempts</h3>
      {tries > attempts.length && (
        <p class="hint">
          The last {attempts.length} of {tries}.
        </p>
      )}
      {attempts.length === 0 && <p class="hint">None yet.</p>}
      {attempts.length > 0 && (
        <ol class="rows" reversed>
          {attempts.toReversed().map((attempt) => (
            <li key={attempt.time} class="row" data-testid="attempt">
              <span class="row-title">{exact(attempt.time)}</span>
              <span class={`state-mark ${attempt.reason === null ? 'good' : 'bad'}`}>
                {attempt.reason === null ? 'Accepted' : 'Failed'}
              </span>
              <span class="row-more">
                {resultOf(attempt)} · {attempt.duration_ms.toLocaleString()} ms
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
