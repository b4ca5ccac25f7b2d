// Checkboxes for types of events, grouped by what they are about.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Group } from '../kit/field';
import { eventWords, FAMILIES } from './event-words';

interface Props {
  legend: string;
  /** The JSON pointer of the list. */
  pointer: string;
  hint: ComponentChildren;
  chosen: readonly string[];
  onChange?: (types: string[]) => void;
}

/** The inputs have the name `types`. A family that is chosen includes all of its types. */
export function EventTypes({ legend, pointer, hint, chosen, onChange }: Props) {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set(chosen));
  const toggle = (type: string) => {
    const next = new Set(picked);
    if (!next.delete(type)) next.add(type);
    setPicked(next);
    onChange?.([...next]);
  };
  return (
    <Group legend={legend} pointer={pointer} hint={hint} notes="before" class="event-types">
      {FAMILIES.map(({ family, title, types }) => {
        const all = picked.has(family);
        return (
          <div key={family} class="event-family">
            <Type type={family} label={title} checked={all} toggle={toggle} />
            {types.length > 1 && (
              <div class="event-members">
                {types.map((type) => (
                  <Type
                    key={type}
                    type={type}
                    label={eventWords(type)}
                    checked={all || picked.has(type)}
                    disabled={all}
                    toggle={toggle}
                  />
                ))}
              </div>
            )}
          </div>
        );
      })}
    </Group>
  );
}

interface TypeProps {
  type: string;
  label: string;
  checked: boolean;
  disabled?: boolean;
  toggle: (type: string) => void;
}

function Type({ type, label, checked, disabled, toggle }: TypeProps) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        name="types"
        value={type}
        checked={checked}
        disabled={disabled}
        onChange={() => toggle(type)}
      />
      <span>
        {label} <code>{type}</code>
      </span>
    </label>
  );
}
