// What a turn has changed in the state, and what was there before.

import { keysOf } from '../state';
import type { Trace } from './traces';

export interface Change {
  key: string;
  /** Undefined for a key that was not there. */
  before: unknown;
  after: unknown;
  /** Whether the value before is known: what set it may not be loaded. */
  known: boolean;
}

/** The changes of a trace, by key. Shared keys have the values that this session has set. */
export function changesIn(trace: Trace): Change[] {
  const after = deltaOf(trace);
  return [...after].sort(byKey).map(([key, value]) => ({
    key,
    ...valueBefore(trace, key),
    after: value ?? undefined,
  }));
}

/** The value of a key after a turn, as the turns before it tell. */
export function valueAfter(trace: Trace | null | undefined, key: string) {
  let at = trace;
  for (; at; at = at.before) {
    const delta = deltaOf(at);
    if (delta.has(key)) return { value: delta.get(key) ?? undefined, known: true };
  }
  return { value: undefined, known: at === null };
}

function valueBefore(trace: Trace, key: string) {
  const { value, known } = valueAfter(trace.before, key);
  return { before: value, known };
}

const deltas = new WeakMap<Trace, Map<string, unknown>>();

/** The last value that a trace gives to each key; null for one that it removes. */
export function deltaOf(trace: Trace): ReadonlyMap<string, unknown> {
  const known = deltas.get(trace);
  if (known) return known;
  const delta = new Map<string, unknown>();
  for (const entry of trace.entries) {
    for (const key of keysOf(entry)) delta.set(key, entry.actions?.state_delta?.[key] ?? null);
  }
  deltas.set(trace, delta);
  return delta;
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
