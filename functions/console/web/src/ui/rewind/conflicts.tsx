// Asks what to do with shared values that another session has changed since.

import type { Rewinding } from '../../store/rewind';

const CHOICES = [
  { value: 'keep', label: 'Keep the values set by other chats' },
  { value: 'restore', label: 'Restore the old values for all chats' },
] as const;

export function Conflicts({ rewinding }: { rewinding: Rewinding }) {
  const keys = rewinding.conflicts.value;
  if (keys.length === 0) return null;
  return (
    <fieldset class="conflicts">
      <legend>
        Changed by other chats since: <b>{keys.join(', ')}</b>
      </legend>
      {CHOICES.map(({ value, label }) => (
        <label key={value}>
          <input
            type="radio"
            name="conflicts"
            value={value}
            checked={rewinding.choice.value === value}
            onChange={() => {
              rewinding.choice.value = value;
            }}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
