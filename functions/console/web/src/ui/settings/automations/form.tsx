// The fields of an automation: when it acts, and which agent it asks what.

import { useState } from 'preact/hooks';
import type { Automation, AutomationRequest } from 'rethread';
import { Choices } from '../../kit/field';
import { Form } from '../../kit/form';
import { TextField } from '../../kit/text-field';
import { EventTypes } from '../event-types';
import { AgentsField, linesOf, SessionsField } from '../lines';
import { Question } from './question';

/** What the form asks for. */
export type AutomationFields = Required<Pick<AutomationRequest, 'name' | 'on' | 'do'>>;

const FEEDBACK = [
  { value: 'up', label: 'Good (up)' },
  { value: 'down', label: 'Bad (down)' },
];

const WHERE = [
  { value: 'same', label: 'In the chat of the event' },
  {
    value: 'new',
    label: 'In a new chat',
    hint: 'Its metadata names the automation and the event.',
  },
];

const BUSY = [
  { value: 'reject', label: 'Try again later', hint: 'For up to a day.' },
  { value: 'enqueue', label: 'Queue behind it' },
  { value: 'cancel_and_merge', label: 'Stop it, and ask both questions together' },
];

interface Props {
  automation?: Automation;
  submit: string;
  /** Where cancelling leads. */
  back: string;
  run: (fields: AutomationFields) => Promise<void>;
}

export function AutomationForm({ automation, submit, back, run }: Props) {
  const { on, do: action } = automation ?? {};
  const [types, setTypes] = useState<readonly string[]>(on?.types ?? []);
  const aboutFeedback = types.some((type) => type.startsWith('feedback.'));
  return (
    <Form submit={submit} run={(form) => run(fieldsOf(form))} cancel={back}>
      <TextField label="Name" name="name" dir="auto" maxLength={256} value={automation?.name} />
      <EventTypes
        legend="When"
        pointer="/on/types"
        hint="Choose one event or more. What the automation itself causes does not count."
        chosen={on?.types ?? []}
        onChange={setTypes}
      />
      {aboutFeedback && (
        <Choices
          legend="Feedback"
          name="feedback_types"
          pointer="/on/feedback_types"
          hint="None selects all feedback."
          choices={FEEDBACK}
          chosen={on?.feedback_types ?? []}
        />
      )}
      <details
        class="more"
        open={Boolean(on && ((on.agents?.length ?? 0) > 0 || (on.session_ids?.length ?? 0) > 0))}
      >
        <summary>Only for some agents or chats</summary>
        <AgentsField pointer="/on/agents" chosen={on?.agents ?? []} />
        <SessionsField pointer="/on/session_ids" chosen={on?.session_ids ?? []} />
      </details>
      <TextField
        label="Ask the agent"
        name="agent"
        pointer="/do/agent"
        hint="The name of a configured agent."
        required
        maxLength={128}
        autocapitalize="off"
        spellcheck={false}
        value={action?.agent ?? 'default'}
      />
      <Question text={action?.input ?? ''} />
      <Choices
        legend="Where"
        name="session"
        pointer="/do/session"
        kind="radio"
        choices={WHERE}
        chosen={[action?.session ?? 'same']}
      />
      <Choices
        legend="If an answer is in progress there"
        name="on_active"
        pointer="/do/on_active"
        kind="radio"
        choices={BUSY}
        chosen={[action?.on_active ?? 'reject']}
      />
    </Form>
  );
}

function fieldsOf(form: FormData): AutomationFields {
  const text = (name: string) => String(form.get(name) ?? '');
  return {
    name: text('name').trim(),
    on: {
      types: form.getAll('types') as AutomationFields['on']['types'],
      agents: linesOf(form.get('agents')),
      session_ids: linesOf(form.get('session_ids')),
      feedback_types: form.getAll('feedback_types') as ('up' | 'down')[],
    },
    do: {
      agent: text('agent').trim(),
      input: text('input'),
      session: text('session') as 'same' | 'new',
      on_active: text('on_active') as 'reject',
    },
  };
}
