// Two lists side by side: which entry of one stands beside which of the other.

export type Pair<T> = readonly [left: T | null, right: T | null];

const MOST = 40_000; // comparisons; longer lists are paired by their order alone

/**
 * Pairs entries without changing their order, so that the sum of the scores is the largest. Entries
 * without a counterpart stand alone.
 * @param score of two entries that stand beside each other: more than 0, or they never do
 */
export function align<T>(
  left: readonly T[],
  right: readonly T[],
  score: (a: T, b: T) => number,
): Pair<T>[] {
  if (left.length * right.length > MOST) return inOrder(left, right);
  // best[i][j]: the best sum of what follows the first i and j entries
  const best = Array.from({ length: left.length + 1 }, () => new Float64Array(right.length + 1));
  const at = (i: number, j: number): number => best[i]?.[j] ?? 0;
  const scores = left.map((a) => right.map((b) => score(a, b)));
  const of = (i: number, j: number): number => scores[i]?.[j] ?? 0;
  const paired = (i: number, j: number) => (of(i, j) > 0 ? of(i, j) + at(i + 1, j + 1) : 0);
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const row = best[i];
      if (row) row[j] = Math.max(at(i + 1, j), at(i, j + 1), paired(i, j));
    }
  }
  const pairs: Pair<T>[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const together = i < left.length && j < right.length && paired(i, j) === at(i, j);
    const alone = i < left.length && (j === right.length || at(i + 1, j) >= at(i, j + 1));
    if (together && of(i, j) > 0) pairs.push([left[i++] ?? null, right[j++] ?? null]);
    else if (alone) pairs.push([left[i++] ?? null, null]);
    else pairs.push([null, right[j++] ?? null]);
  }
  return pairs;
}

function inOrder<T>(left: readonly T[], right: readonly T[]): Pair<T>[] {
  const length = Math.max(left.length, right.length);
  return Array.from({ length }, (_, i) => [left[i] ?? null, right[i] ?? null]);
}

/** How similar texts are by their words, from 0 to 1. */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const [left, right] = [wordsOf(a), wordsOf(b)];
  const count = left.length + right.length;
  if (count === 0) return 0;
  const rest = new Map<string, number>();
  for (const word of left) rest.set(word, (rest.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of right) {
    const times = rest.get(word) ?? 0;
    if (times > 0) common++;
    rest.set(word, times - 1);
  }
  return (2 * common) / count;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
