// State at any event of a session, computed from the deltas up to it.

import type { Event } from '../api/types';

/** Values by prefixed key. */
export type Values = Readonly<Record<string, unknown>>;

export type Scope = 'session' | 'user' | 'app';

export interface Entry {
  /** The key with its prefix. */
  key: string;
  /** The key without its prefix. */
  name: string;
  value: unknown;
}

/** The events that changed state, oldest first. */
export function momentsOf(events: readonly Event[]): Event[] {
  return events.filter((event) => keysOf(event).length > 0);
}

/** The keys that an event changed, without `temp:` keys, which are not stored. */
export function keysOf(event: Event): string[] {
  return Object.keys(event.actions?.state_delta ?? {}).filter((key) => !key.startsWith('temp:'));
}

/**
 * The state right after an event. Shared keys have the values that this session has set.
 * @param moments the events that changed state, oldest first
 */
export function stateAfter(moments: readonly Event[], seq: number): Values {
  const state = new Map<string, unknown>();
  for (const event of moments) {
    if (event.seq > seq) break;
    for (const key of keysOf(event)) {
      const value = event.actions?.state_delta?.[key];
      if (value === null || value === undefined) state.delete(key);
      else state.set(key, value);
    }
  }
  return Object.fromEntries(state);
}

/** The entries of each scope, by name. */
export function scopesOf(values: Values): Record<Scope, Entry[]> {
  const scopes: Record<Scope, Entry[]> = { session: [], user: [], app: [] };
  for (const [key, value] of Object.entries(values)) {
    const [scope, name] = splitKey(key);
    scopes[scope].push({ key, name, value });
  }
  for (const entries of Object.values(scopes)) {
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  return scopes;
}

function splitKey(key: string): [Scope, string] {
  for (const scope of ['user', 'app'] as const) {
    if (key.startsWith(`${scope}:`)) return [scope, key.slice(scope.length + 1)];
  }
  return ['session', key];
}
