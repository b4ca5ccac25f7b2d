// The events of a turn as the API has them.

import { useState } from 'preact/hooks';
import type { Event } from '../../api/types';
import type { Trace } from '../../store/developer/traces';
import { CopyButton } from '../kit/copy-button';
import { Data } from '../message/data';

export function Events({ trace: { entries } }: { trace: Trace }) {
  return (
    <section aria-label="Events">
      <h2>Events</h2>
      <ol class="events">
        {entries.map((entry) => (
          <li key={entry.seq}>
            <Raw entry={entry} />
          </li>
        ))}
      </ol>
      {entries.length > 1 && <CopyButton text={jsonOf(entries)} label="Copy all as JSON" />}
    </section>
  );
}

function Raw({ entry }: { entry: Event }) {
  const [open, setOpen] = useState(false);
  return (
    <details
      class="fold event"
      data-testid="event"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <span>#{entry.seq}</span>
        <code dir="auto">{entry.author || 'no author'}</code>
        <span class="preview">{kindOf(entry)}</span>
      </summary>
      {open && (
        <>
          <Data label="JSON" text={jsonOf(entry)} coloured />
          <CopyButton text={jsonOf(entry)} label="Copy JSON" />
        </>
      )}
    </details>
  );
}

const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2);

// What is in an event, in some words.
function kindOf(entry: Event): string {
  const { type, content, actions, status } = entry;
  const parts = Array.isArray(content?.parts) ? (content.parts as object[]) : [];
  const words = [
    typeof type === 'string' ? type : '',
    ...parts.flatMap((part) => Object.keys(part).filter((key) => key !== 'thought')),
    ...Object.keys(actions ?? {}),
    status === 'completed' ? '' : status.replace('_', ' '),
  ];
  return [...new Set(words.filter(Boolean))].join(', ');
}
