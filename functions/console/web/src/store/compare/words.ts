// The words in which two texts differ.

import { diffWordsWithSpace } from 'diff';

export interface Piece {
  text: string;
  /** Whether both texts have it, or only the left or the right one. */
  in: 'both' | 'left' | 'right';
}

const MOST_EDITS = 4000; // of texts that differ more, each is shown as a whole

/** The pieces of two texts, in order. */
export function wordsOf(left: string, right: string): Piece[] {
  const changes = diffWordsWithSpace(left, right, { maxEditLength: MOST_EDITS });
  if (!changes) {
    return [
      { text: left, in: 'left' },
      { text: right, in: 'right' },
    ];
  }
  return changes.map(({ value, added, removed }) => ({
    text: value,
    in: added ? 'right' : removed ? 'left' : 'both',
  }));
}
