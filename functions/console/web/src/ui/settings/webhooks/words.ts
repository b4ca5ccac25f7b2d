// Webhooks and deliveries in words.

import type { Delivery, Webhook } from 'rethread';
import { exact } from '../../kit/time';
import { eventWords } from '../event-words';

type Reason = NonNullable<Webhook['disabled_reason']>;

const WHY: Record<Reason, string> = {
  paused: 'You have paused it.',
  failing: 'It was disabled because it accepted nothing for 24 hours.',
  gone: 'It was disabled because its server answered 410 Gone.',
  refused: 'It was disabled because its address leads to a private network.',
};

export interface Mark {
  text: string;
  kind: '' | 'good' | 'bad';
}

/** The state of a webhook, short. */
export function markOf({ status, disabled_reason: why }: Webhook): Mark {
  if (status === 'active') return { text: 'Active', kind: 'good' };
  return why === 'paused' ? { text: 'Paused', kind: '' } : { text: 'Disabled', kind: 'bad' };
}

export const whyDisabled = ({ disabled_reason: why }: Webhook): string =>
  why ? WHY[why] : 'It is disabled.';

/** What a webhook receives. */
export function filterWords({ types, agents, session_ids: sessions }: Webhook): string {
  return [
    types.length === 0 ? 'All events' : types.map(eventWords).join(', '),
    agents.length > 0 && `of ${agents.join(', ')}`,
    sessions.length > 0 && `in ${sessions.length === 1 ? '1 chat' : `${sessions.length} chats`}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

const STATES: Record<Delivery['state'], Mark> = {
  pending: { text: 'Pending', kind: '' },
  delivered: { text: 'Delivered', kind: 'good' },
  failed: { text: 'Failed', kind: 'bad' },
};

export const deliveryMark = ({ state }: Delivery): Mark => STATES[state];

type Attempt = Delivery['attempts'][number];

/** What came of an attempt: the status of the answer, or why there was none. */
export function resultOf({ status, reason }: Attempt): string {
  if (status === null) return reason ?? 'No answer';
  return reason ? `${status} (${reason})` : String(status);
}

/** How often a delivery was tried, what came of it, and what is next. */
export function triesWords({ tries, attempts, next_attempt_time: next }: Delivery): string {
  const last = attempts.at(-1);
  return [
    tries === 1 ? '1 attempt' : `${tries} attempts`,
    last && `last answer: ${resultOf(last)}`,
    next !== null && `next attempt: ${exact(next)}`,
  ]
    .filter(Boolean)
    .join(' · ');
}
