// Fields of a form: a label, the control, a hint, and the complaint about it.

import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';
import { useComplaint } from './form';

/** The attributes that tie a control to its label, hint and complaint. */
export interface ControlProps {
  id: string;
  name: string;
  'aria-invalid': boolean;
  'aria-describedby': string | undefined;
}

export interface FieldProps {
  label: string;
  /** The control's name in the form. */
  name: string;
  /** The JSON pointer of the member of the request; by default the name's. */
  pointer?: string | undefined;
  hint?: ComponentChildren;
  control: (props: ControlProps) => VNode;
}

export function Field({ label, name, pointer = `/${name}`, hint, control }: FieldProps) {
  const id = useId();
  const complaint = useComplaint(pointer);
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      {control({
        id,
        name,
        'aria-invalid': complaint !== '',
        'aria-describedby': describedBy(id, hint, complaint),
      })}
      <Notes id={id} hint={hint} complaint={complaint} />
    </div>
  );
}

interface GroupProps {
  legend: string;
  /** The JSON pointer of the member of the request. */
  pointer: string;
  hint?: ComponentChildren;
  /** Where the hint and the complaint stand; after the controls by default. */
  notes?: 'before' | 'after';
  class?: string;
  children: ComponentChildren;
}

/** Controls with a common legend, hint and complaint. */
export function Group({
  legend,
  pointer,
  hint,
  notes = 'after',
  class: name = '',
  children,
}: GroupProps) {
  const id = useId();
  const complaint = useComplaint(pointer);
  const about = <Notes id={id} hint={hint} complaint={complaint} />;
  return (
    <fieldset
      class={`form-field ${name}`}
      aria-describedby={describedBy(id, hint, complaint)}
      data-invalid={complaint !== ''}
      tabIndex={complaint ? -1 : undefined}
    >
      <legend>{legend}</legend>
      {notes === 'before' && about}
      {children}
      {notes === 'after' && about}
    </fieldset>
  );
}

export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

interface ChoicesProps {
  legend: string;
  name: string;
  pointer?: string;
  hint?: ComponentChildren;
  kind?: 'checkbox' | 'radio';
  choices: readonly Choice[];
  chosen: readonly string[];
  onChange?: (value: string) => void;
}

/** A group of checkboxes or radio buttons. */
export function Choices({ pointer, kind = 'checkbox', ...group }: ChoicesProps) {
  const { legend, name, hint, choices, chosen, onChange } = group;
  return (
    <Group legend={legend} pointer={pointer ?? `/${name}`} hint={hint} class="choices">
      {choices.map(({ value, label, hint: more }) => (
        <label key={value} class="choice">
          <input
            type={kind}
            name={name}
            value={value}
            defaultChecked={chosen.includes(value)}
            onChange={() => onChange?.(value)}
          />
          <span>
            {label}
            {more && <small>{more}</small>}
          </span>
        </label>
      ))}
    </Group>
  );
}

function Notes({
  id,
  hint,
  complaint,
}: {
  id: string;
  hint: ComponentChildren;
  complaint: string;
}) {
  return (
    <>
      {hint && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
      {complaint && (
        <small id={`${id}-complaint`} class="complaint">
          {complaint}
        </small>
      )}
    </>
  );
}

function describedBy(id: string, hint: ComponentChildren, complaint: string): string | undefined {
  const ids = [complaint && `${id}-complaint`, hint && `${id}-hint`].filter(Boolean);
  return ids.join(' ') || undefined;
}
