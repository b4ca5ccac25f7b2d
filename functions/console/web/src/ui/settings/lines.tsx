// Fields for lists of names, one a line.

import { useState } from 'preact/hooks';
import { useApp } from '../context';
import { Field } from '../kit/field';

/** The names in a field, without blanks and repetitions. */
export function linesOf(text: FormDataEntryValue | null): string[] {
  const names = String(text ?? '')
    .split('\n')
    .map((line) => line.trim());
  return [...new Set(names.filter(Boolean))];
}

const plain = { class: 'field', rows: 2, spellcheck: false, autocapitalize: 'off' } as const;

interface Props {
  pointer: string;
  chosen: readonly string[];
}

export function AgentsField({ pointer, chosen }: Props) {
  return (
    <Field
      label="Agents"
      name="agents"
      pointer={pointer}
      hint="One name a line. None selects all agents."
      control={(props) => <textarea {...plain} {...props} defaultValue={chosen.join('\n')} />}
    />
  );
}

export function SessionsField({ pointer, chosen }: Props) {
  const { sessions } = useApp();
  const [text, setText] = useState(chosen.join('\n'));
  const ids = linesOf(text);
  const offered = (sessions.value?.list.value ?? []).filter(({ id }) => !ids.includes(id));
  return (
    <div class="form-field">
      <Field
        label="Chats"
        name="session_ids"
        pointer={pointer}
        hint="One id a line. None selects all chats."
        control={(props) => (
          <textarea
            {...plain}
            {...props}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      />
      {offered.length > 0 && (
        <select
          class="field"
          aria-label="Add a chat"
          value=""
          onChange={({ currentTarget }) => {
            setText([...ids, currentTarget.value].join('\n'));
            currentTarget.value = '';
          }}
        >
          <option value="">Add a chat…</option>
          {offered.map(({ id, name }) => (
            <option key={id} value={id}>
              {name || 'Untitled'}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}
