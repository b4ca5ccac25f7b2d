// The fields of an answer.

import { useId, useState } from 'preact/hooks';
import { answerOf, type Field } from './schema';

interface Props {
  fields: readonly Field[];
  give: (value: unknown) => void;
  /** Refuses to answer; without, the person just goes on. */
  decline: (() => void) | undefined;
}

export function Fields({ fields, give, decline }: Props) {
  const [wrong, setWrong] = useState('');
  const error = useId();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    try {
      give(answerOf(fields, ({ name }) => String(data.get(`answer.${name}`) ?? '').trim()));
    } catch (problem) {
      setWrong((problem as Error).message);
    }
  };
  return (
    <form class="question-form" onSubmit={submit} aria-describedby={wrong ? error : undefined}>
      {fields.map((field) => (
        <div key={field.name}>
          <label for={`${error}.${field.name}`}>
            {field.label}
            {field.hint && <small> {field.hint}</small>}
          </label>
          <Input field={field} id={`${error}.${field.name}`} />
        </div>
      ))}
      {wrong && (
        <p class="failure" role="alert" id={error}>
          {wrong}
        </p>
      )}
      <p class="question-buttons">
        <button type="submit" class="button primary">
          Answer
        </button>
        {decline && (
          <button type="button" class="button quiet" onClick={decline}>
            Decline
          </button>
        )}
      </p>
    </form>
  );
}

function Input({ field, id }: { field: Field; id: string }) {
  const { name, kind, choices, required } = field;
  const common = { id, name: `answer.${name}`, class: 'field', required };
  if (kind === 'choice' || kind === 'boolean') {
    const values = kind === 'boolean' ? ['true', 'false'] : choices;
    return (
      <select {...common}>
        {!required && <option value="" />}
        {values.map((value) => (
          <option key={value} value={value}>
            {kind === 'boolean' ? { true: 'Yes', false: 'No' }[value] : value}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'number') return <input {...common} type="number" step="any" />;
  return (
    <textarea {...common} dir="auto" rows={kind === 'json' ? 4 : 2} spellcheck={kind === 'text'} />
  );
}
