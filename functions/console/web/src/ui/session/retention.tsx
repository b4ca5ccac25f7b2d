// How long a session is kept after its last activity.

import { useState } from 'preact/hooks';
import type { Session } from '../../api/types';
import { Group } from '../kit/field';
import { exact } from '../kit/time';

const UNITS = [
  { seconds: 86_400, one: 'day', many: 'days' },
  { seconds: 3600, one: 'hour', many: 'hours' },
  { seconds: 60, one: 'minute', many: 'minutes' },
] as const;

const unitOf = (seconds: number) =>
  UNITS.find((unit) => seconds % unit.seconds === 0) ?? {
    seconds: 1,
    one: 'second',
    many: 'seconds',
  };

/** A period in words, such as 30 days. */
export function periodWords(seconds: number): string {
  const unit = unitOf(seconds);
  const number = seconds / unit.seconds;
  return `${number} ${number === 1 ? unit.one : unit.many}`;
}

/** The change of a session's own period: seconds, null for none, undefined for no change. */
export function retentionOf(form: FormData): number | null | undefined {
  const choice = form.get('keep');
  if (choice === 'default') return null;
  if (choice !== 'own') return undefined;
  return Math.round(Number(form.get('period')) * Number(form.get('unit')));
}

export function RetentionField({ session }: { session: Session }) {
  const { retention, expires_time: expires } = session;
  const [choice, setChoice] = useState('same');
  const now = retention
    ? `Deleted after ${periodWords(retention)} without activity${expires ? `, at the earliest ${exact(expires)}` : ''}`
    : 'Kept';
  const choices = [
    ['same', `As it is: ${now.charAt(0).toLowerCase()}${now.slice(1)}`],
    ['own', 'Delete it after a time without activity'],
    ['default', 'As long as all chats with its agent'],
  ];
  return (
    <Group legend="How long it is kept" pointer="/retention">
      {choices.map(([value, label]) => (
        <label key={value} class="choice">
          <input
            type="radio"
            name="keep"
            value={value}
            checked={choice === value}
            onChange={() => setChoice(value ?? '')}
          />
          <span>{label}</span>
        </label>
      ))}
      {choice === 'own' && <Period />}
    </Group>
  );
}

function Period() {
  return (
    <div class="period">
      <input
        name="period"
        class="field"
        type="number"
        aria-label="Time"
        min={1}
        step={1}
        required
        defaultValue="30"
      />
      <select name="unit" class="field" aria-label="Unit">
        {UNITS.map(({ seconds, many }) => (
          <option key={seconds} value={seconds}>
            {many}
          </option>
        ))}
      </select>
    </div>
  );
}
