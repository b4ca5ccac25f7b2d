// The items before those that a chat has loaded; they are loaded on demand.

import { signal } from '@preact/signals-core';

const PAGE = 100; // items that are loaded when the user scrolls up to them
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

  /** @param read loads a number of items, and rejects on failure */
  constructor(read: (count: number) => Promise<void>) {
    this.#read = read;
  }

  /** Loads a page. Returns whether that succeeded. */
  load(count = PAGE): Promise<boolean> {
    this.#going ??= this.#load(count).finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  /**
   * Loads pages of up to `count` items until `there` returns true or there are no more. Returns its
   * last result.
   */
  async until(there: () => boolean, count = PAGE): Promise<boolean> {
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
      return true;
    } catch {
      this.failed.value = FAILED;
      return false;
    } finally {
      this.loading.value = false;
    }
  }
}
