// Which entries of a log follow one another. A rewind goes back to what was shown just before the
// first entry of an invocation, whether that entry was shown or hidden, or is itself a rewind.

import type { Event } from '../api/types';

/** The invocation that a rewind went back to before; undefined where the entry is no rewind. */
export function boundaryOf(entry: Event): string | undefined {
  const before = entry.author === 'system' && entry.actions?.rewind_before_invocation_id;
  return typeof before === 'string' ? before : undefined;
}

/** Whether people have something to see in an entry: it is no place of a run's end or the like. */
export const tells = (entry: Event): boolean => Boolean(entry.author) && entry.author !== 'system';

/** Follows a log, entry by entry. `T` stands for what is shown: its last part knows the rest. */
export class Lineage<T> {
  /** What is shown after the entries so far. */
  tip: T;
  readonly #before = new Map<string, T>();
  readonly #inherited: (invocation: string) => T | undefined;

  /** @param inherited what was shown before an invocation that another log has begun */
  constructor(tip: T, inherited: (invocation: string) => T | undefined = () => undefined) {
    this.tip = tip;
    this.#inherited = inherited;
  }

  /** Has to be told of each entry before the tip moves for it. */
  see({ invocation_id: invocation }: Event): void {
    if (!this.#before.has(invocation)) this.#before.set(invocation, this.tip);
  }

  /** What was shown just before the first entry of an invocation. */
  before(invocation: string): T | undefined {
    return this.#before.has(invocation)
      ? this.#before.get(invocation)
      : this.#inherited(invocation);
  }
}

interface Step {
  entry: Event;
  before: Step | null;
}

/** What would be shown after a rewind to before an invocation, by a log that is known whole. */
export function shownBefore(log: readonly Event[], invocation: string): Event[] | null {
  const lineage = new Lineage<Step | null>(null);
  for (const entry of log) {
    lineage.see(entry);
    const boundary = boundaryOf(entry);
    if (boundary !== undefined) lineage.tip = lineage.before(boundary) ?? null;
    else if (tells(entry)) lineage.tip = { entry, before: lineage.tip };
  }
  let step = lineage.before(invocation);
  if (step === undefined) return null;
  const shown: Event[] = [];
  for (; step; step = step.before) shown.push(step.entry);
  return shown.reverse();
}
