// The question of an automation, with the values of the event that can stand in it.

import { useRef } from 'preact/hooks';
import { Field } from '../../kit/field';
import { PLACEHOLDERS } from './words';

export function Question({ text }: { text: string }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const insert = (name: string) => {
    const { current } = area;
    if (!current) return;
    current.setRangeText(`{{${name}}}`, current.selectionStart, current.selectionEnd, 'end');
    current.focus();
  };
  return (
    <div class="form-field">
      <Field
        label="Question"
        name="input"
        pointer="/do/input"
        hint="Names in double braces stand for values of the event, or for nothing if it has none."
        control={(props) => (
          <textarea
            {...props}
            ref={area}
            class="field"
            dir="auto"
            required
            rows={4}
            maxLength={10000}
            placeholder="Somebody did not like task {{task_id}}. What could be better?"
            defaultValue={text}
          />
        )}
      />
      <details class="more">
        <summary>Values of the event</summary>
        <ul class="placeholders">
          {Object.entries(PLACEHOLDERS).map(([name, meaning]) => (
            <li key={name}>
              <button type="button" class="button small" onClick={() => insert(name)}>
                <code>{`{{${name}}}`}</code>
              </button>
              <span class="hint">{meaning}</span>
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}
