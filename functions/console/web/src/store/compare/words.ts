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
  const pieces = changes.map(({ value, added, removed }): Piece => {
    return { text: value, in: added ? 'right' : removed ? 'left' : 'both' };
  });
  return pieces.flatMap((piece, i) => {
    const within = i > 0 && i < pieces.length - 1 && piece.text.trim() === '';
    return piece.in === 'both' && within ? apart(piece.text) : piece;
  });
}

// Blanks between words that differ would only make many pieces of one.
const apart = (text: string): Piece[] => [
  { text, in: 'left' },
  { text, in: 'right' },
];
