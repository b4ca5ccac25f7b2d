// Renders the newest rows of a chat first, as many as fill the screen, and the others once these are
// shown, so that a long chat appears as fast as a short one.

import { useEffect, useRef, useState } from 'preact/hooks';
import { isQuestion, textOf } from '../../store/message';
import type { Row } from '../../store/turns';

// What a row takes at least, in pixels, so that the first rows are hardly ever too few.
const ROW = 40;
const BUTTONS = 40; // of a question, and of the last message of a turn
const LINE = 20;
const WIDEST_LINE = 130; // characters

const AROUND = 120; // the header and the message field, at least

/**
 * Returns the rows to render.
 * @param wanted whether the end of the chat is shown; otherwise all rows are rendered at once
 */
export function useNewestFirst(all: readonly Row[], wanted: boolean): readonly Row[] {
  const [complete, setComplete] = useState(!wanted);
  const first = useRef('');
  const any = all.length > 0;
  useEffect(() => {
    if (any) setComplete(true); // effects run after the first rows are painted
  }, [any]);
  if (complete || !any) return all;
  first.current ||= all.at(-filling(all, innerHeight - AROUND))?.key ?? '';
  const from = all.findIndex(({ key }) => key === first.current);
  return from > 0 ? all.slice(from) : all;
}

/** How many of the newest rows fill a height, at most. */
export function filling(rows: readonly Row[], height: number): number {
  let count = 0;
  for (let left = height; left > 0 && count < rows.length; count++) {
    const row = rows[rows.length - 1 - count];
    left -= row ? leastHeight(row) : 0;
  }
  return count;
}

function leastHeight(row: Row): number {
  if (row.kind !== 'message') return ROW;
  const { message, last } = row;
  const lines = Math.floor(textOf(message).length / WIDEST_LINE);
  return ROW + LINE * lines + (last || isQuestion(message) ? BUTTONS : 0);
}
