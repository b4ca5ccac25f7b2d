// Changes an automation, unless it was changed elsewhere meanwhile.

import { useLocation } from 'wouter-preact';
import { useApp } from '../../context';
import { Shown } from '../loaded';
import { Section } from '../section';
import { useVersion } from '../version';
import { AutomationForm } from './form';

export function EditAutomation({ id }: { id: string }) {
  const { api, toasts } = useApp();
  const [, navigate] = useLocation();
  const back = `/settings/automations/${id}`;
  const automation = useVersion(`automation ${id}`, (options) => api.automations.get(id, options));
  return (
    <Section title="Edit automation" back={{ href: back, label: 'Automation' }}>
      <Shown of={automation}>
        {({ value, etag }) => (
          <AutomationForm
            key={etag}
            automation={value}
            submit="Save"
            back={back}
            run={async (fields) => {
              await api.automations.update(id, fields, { ifMatch: etag });
              toasts.say('Saved.');
              navigate(back);
            }}
          />
        )}
      </Shown>
    </Section>
  );
}
