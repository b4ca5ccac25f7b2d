// Pseudo-random numbers from a seed.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer from 0 to `below` - 1. */
  below(below: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * below);
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new Error('there is nothing to pick from');
    return picked;
  }
}
