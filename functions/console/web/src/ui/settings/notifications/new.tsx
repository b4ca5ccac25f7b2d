// Adds an address that is notified of an A2A task.

import { useLocation, useSearchParams } from 'wouter-preact';
import { addNotified, type NewNotified } from '../../../api/notifications';
import { useApp } from '../../context';
import { Form } from '../../kit/form';
import { TextField } from '../../kit/text-field';
import { AddressField } from '../address-field';
import { Section } from '../section';
import { notificationsPath } from './address';

// Such fields are not written in a language.
const CODE = { spellcheck: false, autocapitalize: 'off' } as const;

export function NewNotification({ session }: { session: string }) {
  const { api, toasts } = useApp();
  const [params] = useSearchParams();
  const [, navigate] = useLocation();
  const agent = params.get('agent') ?? '';
  const task = params.get('task') ?? '';
  const back = notificationsPath(session, agent);
  return (
    <Section title="Notify a server" back={{ href: back, label: 'Notifications' }}>
      <p class="hint">
        It is sent each step and artifact of the task, and how it ends, from now on. The same
        address again replaces what is sent with it.
      </p>
      <Form
        submit="Add"
        run={async (form) => {
          await addNotified(api, agent, task, fieldsOf(form));
          toasts.say('The server is notified from now on.');
          navigate(back);
        }}
        cancel={back}
      >
        <AddressField placeholder="https://example.com/a2a/notifications" />
        <TextField
          label="Token"
          name="token"
          maxLength={1024}
          {...CODE}
          hint={
            <>
              Optional. It comes back with each notification, as{' '}
              <code>X-A2A-Notification-Token</code>.
            </>
          }
        />
        <TextField
          label="Scheme"
          name="scheme"
          pointer="/authentication/scheme"
          maxLength={64}
          {...CODE}
          hint={
            <>
              Optional, such as <code>Bearer</code>: how this server signs in at yours. Without it
              notifications carry a signature.
            </>
          }
        />
        <TextField
          label="Credentials"
          name="credentials"
          pointer="/authentication/credentials"
          maxLength={4096}
          {...CODE}
          hint={
            <>
              What follows the scheme in the header <code>Authorization</code>. They are not shown
              again.
            </>
          }
        />
      </Form>
    </Section>
  );
}

function fieldsOf(form: FormData): NewNotified {
  const text = (name: string) => String(form.get(name)).trim();
  return {
    url: text('url'),
    token: text('token'),
    scheme: text('scheme'),
    credentials: text('credentials'),
  };
}
