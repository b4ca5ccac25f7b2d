// Registers a webhook.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Once } from '../../../store/once';
import { useApp } from '../../context';
import { Section } from '../section';
import { WebhookForm } from './form';

const LIST = '/settings/webhooks';

export function NewWebhook() {
  const { api, toasts } = useApp();
  const [, navigate] = useLocation();
  const [once] = useState(() => new Once());
  return (
    <Section title="New webhook" back={{ href: LIST, label: 'Webhooks' }}>
      <WebhookForm
        submit="Create webhook"
        back={LIST}
        run={async ({ secret, ...fields }) => {
          const body = { ...fields, ...(secret && { secret }) };
          const webhook = await once.write(body, (idempotencyKey) =>
            api.webhooks.create(body, { idempotencyKey }),
          );
          toasts.say('The webhook is active.');
          navigate(`${LIST}/${webhook.id}`);
        }}
      />
    </Section>
  );
}
