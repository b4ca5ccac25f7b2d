// What a rewind does to what a session shows.

import type { Event } from '../api/types';
import { Messages } from './message';

export interface RewindEffect {
  /** How many messages go, and how many come back. */
  hides: number;
  returns: number;
  /** The version of each artifact that what is shown then names last; null while not all is read. */
  artifacts: ReadonlyMap<string, number> | null;
}

export function effectOf(now: readonly Event[], then: readonly Event[]): RewindEffect {
  const artifacts = new Map<string, number>();
  for (const { actions } of then) {
    for (const [name, version] of Object.entries(actions?.artifact_delta ?? {})) {
      artifacts.set(name, version);
    }
  }
  return { hides: countBut(now, then), returns: countBut(then, now), artifacts };
}

// How many messages of one are not in the other.
function countBut(events: readonly Event[], others: readonly Event[]): number {
  const ids = new Set(others.map(({ id }) => id));
  return new Messages().of(events).filter(({ id }) => !ids.has(id)).length;
}

/** What is shown before the first event of an invocation. */
export function eventsBefore(items: readonly Event[], invocation: string): readonly Event[] {
  const first = items.findIndex((item) => item.invocation_id === invocation);
  return first < 0 ? items : items.slice(0, first);
}
