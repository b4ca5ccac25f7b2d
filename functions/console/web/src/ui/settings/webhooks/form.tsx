// The fields of a webhook, for a new one and for a change.

import type { Webhook, WebhookChange } from 'rethread';
import { Link } from 'wouter-preact';
import { Field } from '../../kit/field';
import { Form } from '../../kit/form';
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
    <Form
      submit={submit}
      run={(form) => run(fieldsOf(form))}
      buttons={
        <Link href={back} class="button">
          Cancel
        </Link>
      }
    >
      <Field
        label="Address"
        name="url"
        hint="An https address that is reachable from the internet. Redirects are not followed."
        control={(props) => (
          <input
            {...props}
            class="field"
            type="url"
            required
            maxLength={2048}
            placeholder="https://example.com/hooks/rethread"
            autocomplete="off"
            defaultValue={webhook?.url}
          />
        )}
      />
      <Field
        label="Description"
        name="description"
        hint="For yourself."
        control={(props) => (
          <input
            {...props}
            class="field"
            dir="auto"
            maxLength={256}
            autocomplete="off"
            defaultValue={webhook?.description}
          />
        )}
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
    <Field
      label="Secret"
      name="secret"
      hint={
        <>
          Leave it empty to have one generated. Your own begins with <code>whsec_</code>, followed
          by 24 to 64 bytes in base64.
        </>
      }
      control={(props) => (
        <input
          {...props}
          class="field"
          autocomplete="off"
          spellcheck={false}
          autocapitalize="off"
        />
      )}
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
