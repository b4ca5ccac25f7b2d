// Changes a webhook, unless it was changed elsewhere meanwhile.

import { useLocation } from 'wouter-preact';
import { useApp } from '../../context';
import { Shown } from '../loaded';
import { Section } from '../section';
import { useVersion } from '../version';
import { WebhookForm } from './form';

export function EditWebhook({ id }: { id: string }) {
  const { api, toasts } = useApp();
  const [, navigate] = useLocation();
  const back = `/settings/webhooks/${id}`;
  const webhook = useVersion(`webhook ${id}`, (options) => api.webhooks.get(id, options));
  return (
    <Section title="Edit webhook" back={{ href: back, label: 'Webhook' }}>
      <Shown of={webhook}>
        {({ value, etag }) => (
          <WebhookForm
            key={etag}
            webhook={value}
            submit="Save"
            back={back}
            run={async ({ secret: _, ...fields }) => {
              await api.webhooks.update(id, fields, { ifMatch: etag });
              toasts.say('Saved.');
              navigate(back);
            }}
          />
        )}
      </Shown>
    </Section>
  );
}
