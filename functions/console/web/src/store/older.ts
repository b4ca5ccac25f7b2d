// The items before those that a chat has loaded; they are loaded on demand.

import { signal } from '@preact/signals-core';

const FAILED = 'Earlier messages could not be loaded.';

export class Older {
  /** Whether there are any. */
  readonly more = signal(false);
  readonly loading = signal(false);
  /** Why loading failed, until the next attempt. */
  readonly failed = signal('');
  readonly #read: () => Promise<void>;
  #going: Promise<boolean> | null = null;

  /** @param read loads a page, and rejects on failure */
  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Loads a page. Returns whether that succeeded. */
  load(): Promise<boolean> {
    this.#going ??= this.#load().finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  /** Loads pages until `there` returns true or there are no more. Returns its last result. */
  async until(there: () => boolean): Promise<boolean> {
    while (!there() && this.more.value) {
      if (!(await this.load())) break;
    }
    return there();
  }

  async #load(): Promise<boolean> {
    this.loading.value = true;
    this.failed.value = '';
    try {
      await this.#read();
      return true;
    } catch {
      this.failed.value = FAILED;
      return false;
    } finally {
      this.loading.value = false;
    }
  }
}
