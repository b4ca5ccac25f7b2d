// Timers with names, and the delays between attempts.

/**
 * Returns the delay in milliseconds after a number of failures: `least` plus a random time of up to
 * 250 ms, doubling with each failure up to 30 s. `random` returns a number from 0 to below 1.
 */
export function backoff(
  failures: number,
  { least = 0, random = Math.random }: { least?: number; random?: () => number } = {},
): number {
  return least + random() * Math.min(30_000, 250 * 2 ** failures);
}

/** Timers, at most one of each name. */
export class Timers {
  readonly #timers = new Map<string, { timer: ReturnType<typeof setTimeout>; at: number }>();

  /** Calls a function after a delay in milliseconds, in place of the timer of this name. */
  schedule(name: string, delay: number, run: () => unknown): void {
    this.cancel(name);
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      run();
    }, delay);
    this.#timers.set(name, { timer, at: Date.now() + delay });
  }

  cancel(name: string): void {
    clearTimeout(this.#timers.get(name)?.timer);
    this.#timers.delete(name);
  }

  has(name: string): boolean {
    return this.#timers.has(name);
  }

  /** The earliest time in epoch milliseconds of some of the timers; null if none runs. */
  next(...names: string[]): number | null {
    const due = names.flatMap((name) => this.#timers.get(name)?.at ?? []);
    return due.length === 0 ? null : Math.min(...due);
  }

  clear(): void {
    for (const name of [...this.#timers.keys()]) this.cancel(name);
  }
}
