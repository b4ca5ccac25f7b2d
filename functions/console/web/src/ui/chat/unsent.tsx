// What the user was writing when the right to write ended, so that it can still be copied.

import { Copy } from 'lucide-preact';
import { useCopy } from '../kit/copy';

export function Unsent({ text }: { text: string }) {
  const copy = useCopy();
  if (text.trim() === '') return null;
  return (
    <section class="unsent" aria-label="What you were writing" data-testid="unsent">
      <p>
        <b>What you were writing: </b>
        <span dir="auto">{text}</span>
      </p>
      <button type="button" class="button small" onClick={() => void copy(text)}>
        <Copy size={15} aria-hidden="true" />
        Copy
      </button>
    </section>
  );
}
