// The section "Webhooks": all webhooks of the user.

import { Plus } from 'lucide-preact';
import type { Webhook } from 'rethread';
import { Link } from 'wouter-preact';
import { useApp } from '../../context';
import { Shown, useLoaded } from '../loaded';
import { Section } from '../section';
import { filterWords, markOf } from './words';

const MOST = 20; // webhooks of a user, the API's limit

export function Webhooks() {
  const { api } = useApp();
  const webhooks = useLoaded('webhooks', () => api.webhooks.list({ limit: 100 }).all());
  const full = (webhooks.value.value?.length ?? 0) >= MOST;
  return (
    <Section
      title="Webhooks"
      actions={
        !full && (
          <Link href="/settings/webhooks/new" class="button primary small">
            <Plus size={15} aria-hidden="true" />
            New webhook
          </Link>
        )
      }
    >
      <p class="hint">
        A webhook tells a server of yours when something happens in your chats. Its messages are
        signed, so that the server knows that they are genuine.
        {full && ` ${MOST} webhooks are the most that a user can have.`}
      </p>
      <Shown of={webhooks}>
        {(list) =>
          list.length === 0 ? (
            <p>There are no webhooks yet.</p>
          ) : (
            <ul class="rows">
              {list.map((webhook) => (
                <li key={webhook.id}>
                  <Row webhook={webhook} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const { text, kind } = markOf(webhook);
  return (
    <Link href={`/settings/webhooks/${webhook.id}`} class="row">
      <span class="row-title" dir="auto">
        {webhook.description || webhook.url}
      </span>
      <span class={`state-mark ${kind}`}>{text}</span>
      {webhook.description && <span class="row-more">{webhook.url}</span>}
      <span class="row-more">{filterWords(webhook)}</span>
    </Link>
  );
}
