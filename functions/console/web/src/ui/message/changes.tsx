// The state changed by a message.

import { Database } from 'lucide-preact';
import type { MessageProps } from './message';

export function Changes({ message }: MessageProps) {
  const changes = Object.entries(message.event.actions?.state_delta ?? {});
  if (changes.length === 0) return null;
  return (
    <ul class="changes" aria-label="State changes">
      {changes.map(([key, value]) => (
        <li key={key}>
          <Database size={13} aria-hidden="true" />
          <b dir="auto">{key}</b>{' '}
          {value === null ? <i>removed</i> : <code dir="auto">{brief(value)}</code>}
        </li>
      ))}
    </ul>
  );
}

const LONGEST = 80;

function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
