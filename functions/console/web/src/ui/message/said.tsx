// What a user has said. Of a long text only the beginning is shown at first.

import { useState } from 'preact/hooks';

const LONG = 2000; // characters
const LINES = 30;
const FEW = 1.25; // times as much is not worth a button

export function Said({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const beginning = beginningOf(text);
  const long = beginning.length < text.length;
  return (
    <>
      <p class="said" dir="auto">
        {long && !all ? `${beginning}…` : text}
      </p>
      {long && (
        <button
          type="button"
          class="button small unfold"
          aria-expanded={all}
          onClick={() => setAll(!all)}
        >
          {all ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`}
        </button>
      )}
    </>
  );
}

/** The beginning of a long text; a text that is not long is its own. */
function beginningOf(text: string): string {
  const lines = text.split('\n', LINES * FEW + 1);
  const many = lines.length > LINES * FEW;
  if (!many && text.length <= LONG * FEW) return text;
  const few = many ? lines.slice(0, LINES).join('\n') : text;
  return few
    .slice(0, LONG)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd();
}
