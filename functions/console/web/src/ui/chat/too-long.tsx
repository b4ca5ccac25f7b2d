// A question that is too long to be sent: the field keeps all of it and says so.

import type { ComponentChildren } from 'preact';

/** Characters of a question, well below the size limit of an event. */
export const LONGEST = 100_000;

const isTooLong = (text: string): boolean => text.length > LONGEST;

/** Whether a question with so many files can be sent as it is written. */
export const canSend = (text: string, files: number): boolean =>
  (text.trim() !== '' || files > 0) && !isTooLong(text);

/** @param children what can be done about it, beside shortening the text */
export function TooLong({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <div class="too-long" role="status">
      {isTooLong(text) && (
        <>
          <p>
            {(text.length - LONGEST).toLocaleString()} characters too many: a question can have{' '}
            {LONGEST.toLocaleString()}.
          </p>
          {children}
        </>
      )}
    </div>
  );
}
