// How long tool calls took, and how many failed.

import { type CallBlock, failureOf } from './message';

const LEAST = 10; // milliseconds; what was stored together tells nothing

/** How long calls took in milliseconds, from the first one to the last result; null if unknown. */
export function timeOf(calls: readonly CallBlock[]): number | null {
  const ends = calls.map(({ ended }) => ended);
  if (ends.includes(undefined)) return null;
  const began = Math.min(...calls.map((call) => call.began));
  const took = Math.max(...ends.map((end) => end ?? 0)) - began;
  return took >= LEAST ? took : null;
}

/** How many of them failed. */
export const failuresIn = (calls: readonly CallBlock[]): number =>
  calls.filter(({ result }) => failureOf(result) !== null).length;
