// What stands before the items that a chat holds: it is read when somebody wants to see it.

import { signal } from '@preact/signals-core';

const FAILED = 'Earlier messages could not be read.';

export class Older {
  /** Whether there is anything. */
  readonly more = signal(false);
  readonly loading = signal(false);
  /** Why nothing more came; until the next try. */
  readonly failed = signal('');
  readonly #read: () => Promise<void>;
  #going: Promise<boolean> | null = null;

  /** @param read reads a page of it, and rejects where it cannot */
  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Reads a page, and says whether that went well. */
  load(): Promise<boolean> {
    this.#going ??= this.#load().finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  /** Reads until something is there, which it says in the end, or nothing more comes. */
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
