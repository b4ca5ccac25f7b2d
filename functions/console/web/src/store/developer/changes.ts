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

/** What a turn has set, by key; null for what it has removed. */
export type Delta = (trace: Trace) => ReadonlyMap<string, unknown>;

/** The value of a key after a turn, as the turns up to it tell. */
export function valueAfter(trace: Trace | null | undefined, key: string, delta: Delta = deltaOf) {
  let at = trace;
  for (; at; at = at.before) {
    const set = delta(at);
    if (set.has(key)) return { value: set.get(key) ?? undefined, known: true };
  }
  return { value: undefined, known: at === null };
}

function valueBefore(trace: Trace, key: string) {
  const { value, known } = valueAfter(trace.before, key);
  return { before: value, known };
}

/** The changes of the state. */
export const deltaOf = remembered((trace) =>
  trace.entries.flatMap((entry) =>
    keysOf(entry).map((key) => [key, entry.actions?.state_delta?.[key] ?? null] as const),
  ),
);

/** The versions of artifacts that belong to a turn. */
export const versionsOf = remembered((trace) =>
  trace.entries.flatMap(({ actions }) => Object.entries(actions?.artifact_delta ?? {})),
);

// The last of several changes of a key counts.
function remembered(changes: (trace: Trace) => (readonly [string, unknown])[]): Delta {
  const known = new WeakMap<Trace, ReadonlyMap<string, unknown>>();
  return (trace) => {
    const delta = known.get(trace) ?? new Map(changes(trace));
    known.set(trace, delta);
    return delta;
  };
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
