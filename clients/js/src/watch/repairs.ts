// Messages that wait for those before them, and the time at which to subscribe again for what is
// missing. Times are in milliseconds.

import { compareCursors } from './cursor.js';
import type { Parsed } from './parsed.js';

const HOLD = 1000; // how long a message that arrived early waits for those before it
const MAX_DOUBLINGS = 5; // of HOLD, while repairs do not help
const MAX_HELD = 1000; // messages; subscribing again is cheaper than holding more

export class Repairs {
  #held: { m: Parsed; due: number }[] = [];
  #lost = false; // whether a message was lost since the last repair
  #time = 0; // when to subscribe again if no message is held
  #vain = 0; // repairs in a row that did not help
  readonly #unknown: () => boolean;

  /** @param unknown whether it is unknown how many deltas an unfinished item has */
  constructor(unknown: () => boolean) {
    this.#unknown = unknown;
  }

  /** Keeps a message until those before it have arrived. */
  hold(m: Parsed, now: number): void {
    if (this.#held.length >= MAX_HELD) {
      this.#held = [];
      this.#lost = true;
      this.#time = now;
    }
    const i = this.#held.findIndex((held) => compareCursors(m.cursor, held.m.cursor) < 0);
    this.#held.splice(i < 0 ? this.#held.length : i, 0, { m, due: now + this.#delay() });
  }

  /**
   * Applies held messages as long as one of them can be applied. If nothing is missing then, earlier
   * repairs have helped.
   */
  retry(apply: (m: Parsed) => boolean): void {
    for (let before = -1; before !== this.#held.length; ) {
      before = this.#held.length;
      this.#held = this.#held.filter(({ m }) => !apply(m));
    }
    if (this.#vain > 0 && !this.#missing()) this.#vain = 0;
  }

  /** Drops the held messages. */
  clear(): void {
    this.#held = [];
  }

  /** Reports that messages may have been lost. */
  lost(): void {
    this.#lost = true;
  }

  /** Reports that a message was lost that cannot be waited for. */
  missed(now: number): void {
    this.#lost = true;
    this.#time = now + this.#delay();
  }

  /** Makes the next repair due at once, or after the delay if earlier ones did not help. */
  check(now: number): void {
    this.#time = this.#vain > 0 ? now + this.#delay() : now;
  }

  /** When to subscribe again; null if nothing is missing. */
  get due(): number | null {
    const times = this.#held.map(({ due }) => due);
    if (this.#lost || this.#unknown()) times.push(this.#time);
    return times.length > 0 ? Math.min(...times) : null;
  }

  /** Reports that the caller has subscribed again; each repair that does not help doubles the delay. */
  began(now: number): void {
    this.#time = now + this.#delay();
    if (this.#missing()) this.#vain++;
    this.#lost = false;
    for (const waiting of this.#held) waiting.due = this.#time;
  }

  #missing(): boolean {
    return this.#held.length > 0 || this.#lost || this.#unknown();
  }

  #delay(): number {
    return HOLD * 2 ** Math.min(this.#vain, MAX_DOUBLINGS);
  }
}
