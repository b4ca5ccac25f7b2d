// The fields of a webhook, for a new one and for a change.

import type { Webhook, WebhookChange } from 'rethread';
import { Form } from '../../kit/form';
import { TextField } from '../../kit/text-field';
import { AddressField } from '../address-field';
import { EventTypes } from '../event-types';
import { AgentsField, linesOf, SessionsField } from '../lines';

/** What the form asks for. */
export type WebhookFields = Required<
  Pick<WebhookChange, 'url' | 'description' | 'types' | 'agents' | 'session_ids'>
> & { secret: string };

interface Props {
  webhook?: Webhook;
  submit: string;
  /** Where cancelling leads. */
  back: string;
  run: (fields: WebhookFields) => Promise<void>;
}

export function WebhookForm({ webhook, submit, back, run }: Props) {
  return (
    <Form submit={submit} run={(form) => run(fieldsOf(form))} cancel={back}>
      <AddressField placeholder="https://example.com/hooks/rethread" value={webhook?.url} />
      <TextField
        label="Description"
        name="description"
        hint="For yourself."
        dir="auto"
        maxLength={256}
        value={webhook?.description}
      />
      <EventTypes
        legend="Events"
        pointer="/types"
        hint="None selects all events."
        chosen={webhook?.types ?? []}
      />
      <AgentsField pointer="/agents" chosen={webhook?.agents ?? []} />
      <SessionsField pointer="/session_ids" chosen={webhook?.session_ids ?? []} />
      {!webhook && <SecretField />}
    </Form>
  );
}

/** A secret of the user's own, instead of a generated one. */
export function SecretField() {
  return (
    <TextField
      label="Secret"
      name="secret"
      hint={
        <>
          Leave it empty to have one generated. Your own begins with <code>whsec_</code>, followed
          by 24 to 64 bytes in base64.
        </>
      }
      spellcheck={false}
      autocapitalize="off"
    />
  );
}

function fieldsOf(form: FormData): WebhookFields {
  return {
    url: String(form.get('url')).trim(),
    description: String(form.get('description')).trim(),
    types: form.getAll('types') as WebhookFields['types'],
    agents: linesOf(form.get('agents')),
    session_ids: linesOf(form.get('session_ids')),
    secret: String(form.get('secret') ?? '').trim(),
  };
}
