// The effect of a rewind on the messages of a session.

import type { Event } from '../api/types';
import { Messages } from './message';

export interface RewindEffect {
  /** How many messages are hidden, and how many are restored. */
  hides: number;
  returns: number;
  /**
   * The last version of each artifact named by the events that are then shown; null unless all are
   * loaded.
   */
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

// The number of messages that are not among the others.
function countBut(events: readonly Event[], others: readonly Event[]): number {
  const ids = new Set(others.map(({ id }) => id));
  return new Messages().of(events).filter(({ id }) => !ids.has(id)).length;
}

/** The items before the first event of an invocation. */
export function eventsBefore(items: readonly Event[], invocation: string): readonly Event[] {
  const first = items.findIndex((item) => item.invocation_id === invocation);
  return first < 0 ? items : items.slice(0, first);
}
