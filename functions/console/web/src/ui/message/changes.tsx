// The state changed by a message.

import { Database } from 'lucide-preact';
import type { MessageProps } from './props';

export function Changes({ message }: MessageProps) {
  const changes = Object.entries(message.event.actions?.state_delta ?? {});
  if (changes.length === 0) return null;
  return (
    <ul class="changes" aria-label="State changes">
      {changes.map(([key, value]) => (
        <li key={key}>
          <Database size={13} aria-hidden="true" />
          <b dir="auto">{key}</b> {value === null ? <i>removed</i> : <Value text={textOf(value)} />}
        </li>
      ))}
    </ul>
  );
}

const LONGEST = 80;
const LONGEST_TITLE = 1000;

// The panel has the whole of values that are longer still.
function Value({ text }: { text: string }) {
  return (
    <code dir="auto" title={cut(text, LONGEST_TITLE)}>
      {cut(text, LONGEST)}
    </code>
  );
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const cut = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text;
