// Which entries of a log follow each other. A rewind returns to what was shown just before the first
// entry of an invocation, whether that entry is shown, hidden, or itself a rewind.

import type { Event } from '../api/types';

/**
 * What a rewind goes back to before: the first entry of an invocation or, if a discarded run's
 * invocation was in the log before it began, the seq of its input.
 */
export type Boundary = string | number;

/** The boundary of a rewind; undefined if the entry is not a rewind. */
export function boundaryOf(entry: Event): Boundary | undefined {
  if (entry.author !== 'system') return undefined;
  const { rewind_before_invocation_id: before, rewind_before_seq: start } = entry.actions ?? {};
  if (typeof start === 'number') return start;
  return typeof before === 'string' ? before : undefined;
}

/**
 * Whether an entry is part of the conversation, unlike the end of a run or the like. The entry of type
 * `state` that follows a streamed answer only repeats the changes which the answer names.
 */
export const isMessage = (entry: Event): boolean =>
  Boolean(entry.author) && entry.author !== 'system' && entry.type !== 'state';

/** Follows a log, entry by entry. `T` is the last shown part, which links to those before it. */
export class Lineage<T> {
  /** The last part shown after the entries so far. */
  tip: T;
  readonly #before = new Map<Boundary, T>();
  readonly #inherited: (invocation: Boundary) => T | undefined;

  /** @param inherited returns what was shown before an invocation of another log */
  constructor(tip: T, inherited: (invocation: Boundary) => T | undefined = () => undefined) {
    this.tip = tip;
    this.#inherited = inherited;
  }

  /** Must be called with each entry before the tip moves for it. */
  see({ invocation_id: invocation, seq }: Pick<Event, 'invocation_id' | 'seq'>): void {
    if (!this.#before.has(invocation)) this.#before.set(invocation, this.tip);
    this.#before.set(seq, this.tip);
  }

  /** Returns the last part shown just before a boundary. */
  before(boundary: Boundary): T | undefined {
    return this.#before.has(boundary) ? this.#before.get(boundary) : this.#inherited(boundary);
  }
}

interface Step {
  entry: Event;
  before: Step | null;
}

/**
 * Returns the messages shown after a rewind to before an invocation, given the complete log; null
 * for an unknown invocation.
 */
export function shownBefore(log: readonly Event[], invocation: string): Event[] | null {
  const lineage = new Lineage<Step | null>(null);
  for (const entry of log) {
    lineage.see(entry);
    const boundary = boundaryOf(entry);
    if (boundary !== undefined) lineage.tip = lineage.before(boundary) ?? null;
    else if (isMessage(entry)) lineage.tip = { entry, before: lineage.tip };
  }
  let step = lineage.before(invocation);
  if (step === undefined) return null;
  const shown: Event[] = [];
  for (; step; step = step.before) shown.push(step.entry);
  return shown.reverse();
}
