// With whom to share, what they may do, and for how long.

import { useState } from 'preact/hooks';
import { errorText } from '../../api/error';
import type { SharedAccess } from '../../api/shares';
import { dayIn, type Life, secondsOf } from '../../store/life';
import type { Sharing } from '../../store/sharing';

const TO = { user: 'A person', link: 'Anyone with a link' } as const;

const ACCESS: Record<SharedAccess, { label: string; hint: string }> = {
  read: { label: 'Can read', hint: 'They see the chat, its state and its artifacts, live.' },
  write: { label: 'Can write', hint: 'They also ask, stop, rewind and upload.' },
};

const ENDS: Record<Life, string> = {
  never: 'No end',
  hour: 'For an hour',
  day: 'For a day',
  week: 'For 7 days',
  month: 'For 30 days',
  date: 'Until a date…',
};

export function ShareForm({ sharing }: { sharing: Sharing }) {
  const [to, setTo] = useState<keyof typeof TO>('user');
  const [access, setAccess] = useState<SharedAccess>('read');
  const [life, setLife] = useState<Life>('never');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');

  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    setBusy(true);
    setError('');
    try {
      await sharing.share({ access, user: text('user'), life: secondsOf(life, text('date')) });
      const field = form.elements.namedItem('user');
      if (field instanceof HTMLInputElement) field.value = '';
    } catch (failure) {
      setError(errorText(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="share-form" onSubmit={(event) => void onSubmit(event)}>
      <fieldset class="share-to">
        <legend class="hidden">Share with</legend>
        {(Object.keys(TO) as (keyof typeof TO)[]).map((one) => (
          <label key={one}>
            <input type="radio" name="to" checked={to === one} onChange={() => setTo(one)} />
            {TO[one]}
          </label>
        ))}
      </fieldset>
      {to === 'user' && (
        <label>
          User id
          <input
            name="user"
            class="field"
            dir="auto"
            required
            pattern=".*\S.*"
            maxLength={256}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            aria-describedby="share-user-hint"
          />
          <small id="share-user-hint">They find it in their list “Shared with me”.</small>
        </label>
      )}
      <div class="share-terms">
        <Choice label="Access" value={access} set={setAccess} names={labelsOf(ACCESS)} />
        <Choice label="Duration" value={life} set={setLife} names={ENDS} />
        {life === 'date' && (
          <label>
            Last day
            <input name="date" type="date" class="field" required min={dayIn(Date.now())} />
          </label>
        )}
      </div>
      <p class="hint">{ACCESS[access].hint}</p>
      {error && (
        <p class="share-error" role="alert">
          {error}
        </p>
      )}
      <button type="submit" class="button primary" disabled={busy} aria-busy={busy}>
        {to === 'user' ? 'Share' : 'Create a link'}
      </button>
    </form>
  );
}

const labelsOf = (of: typeof ACCESS) => ({ read: of.read.label, write: of.write.label });

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  names: Record<T, string>;
  set: (value: T) => void;
}

function Choice<T extends string>({ label, value, names, set }: ChoiceProps<T>) {
  return (
    <label>
      {label}
      <select
        class="field"
        value={value}
        onChange={({ currentTarget }) => set(currentTarget.value as T)}
      >
        {(Object.keys(names) as T[]).map((one) => (
          <option key={one} value={one}>
            {names[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
