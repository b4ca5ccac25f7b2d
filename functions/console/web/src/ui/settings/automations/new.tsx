// Creates an automation.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Once } from '../../../store/once';
import { useApp } from '../../context';
import { Section } from '../section';
import { AutomationForm } from './form';

const LIST = '/settings/automations';

export function NewAutomation() {
  const { api, toasts } = useApp();
  const [, navigate] = useLocation();
  const [once] = useState(() => new Once());
  return (
    <Section title="New automation" back={{ href: LIST, label: 'Automations' }}>
      <AutomationForm
        submit="Create automation"
        back={LIST}
        run={async (fields) => {
          const { id } = await once.write(fields, (idempotencyKey) =>
            api.automations.create(fields, { idempotencyKey }),
          );
          toasts.say('The automation is active.');
          navigate(`${LIST}/${id}`);
        }}
      />
    </Section>
  );
}
