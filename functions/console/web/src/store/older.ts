// The items before those that a chat has loaded; they are loaded on demand.

import { signal } from '@preact/signals-core';

const PAGE = 100; // items that are loaded when the user first scrolls up to them
/** Items in a page at most, to reach something far away with few requests. */
export const LARGEST = 1000;
const FAILED = 'Earlier messages could not be loaded.';

export class Older {
  /** Whether there are any. */
  readonly more = signal(false);
  readonly loading = signal(false);
  /** Why loading failed, until the next attempt. */
  readonly failed = signal('');
  readonly #read: (count: number) => Promise<void>;
  #going: Promise<boolean> | null = null;
  #next = PAGE; // twice as many each time: who scrolls on is looking for something further away

  /** @param read loads a number of items, and rejects on failure */
  constructor(read: (count: number) => Promise<void>) {
    this.#read = read;
  }

  /** Loads a page, by default of twice as many items as before. Returns whether that succeeded. */
  load(count = this.#next): Promise<boolean> {
    this.#going ??= this.#load(count).finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  /**
   * Loads pages, by default of twice as many items each time, until `there` returns true or there are
   * no more. Returns its last result.
   */
  async until(there: () => boolean, count?: number): Promise<boolean> {
    while (!there() && this.more.value) {
      if (!(await this.load(count))) break;
    }
    return there();
  }

  async #load(count: number): Promise<boolean> {
    this.loading.value = true;
    this.failed.value = '';
    try {
      await this.#read(count);
      this.#next = Math.min(count * 2, LARGEST);
      return true;
    } catch {
      this.failed.value = FAILED;
      return false;
    } finally {
      this.loading.value = false;
    }
  }
}
