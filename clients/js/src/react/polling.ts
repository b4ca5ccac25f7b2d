// Reads something again while the page is visible.

import type { Rethread } from '../client.js';

const EVERY = 10_000; // milliseconds between two reads
const AT_LEAST = 2_000; // milliseconds between the reads that events of the page cause

/**
 * Calls a function, which must not reject, every ten seconds while the page is visible, and when it becomes visible, gets the
 * focus or is online again, then at most every two seconds. It ends when the client is closed.
 */
export class Polling {
  readonly #client: Rethread;
  readonly #read: () => Promise<void>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0; // time of the newest read
  #reading = 0; // reads in progress
  #again = false; // whether something may have changed since they began
  #end: (() => void) | null = null;

  constructor(client: Rethread, read: () => Promise<void>) {
    this.#client = client;
    this.#read = read;
  }

  start(): void {
    const { document, window } = this.#client.streams.page;
    document?.addEventListener('visibilitychange', this.soon);
    for (const event of ['focus', 'online']) window?.addEventListener(event, this.soon);
    const release = this.#client.onClose(() => this.stop());
    this.#end = () => {
      document?.removeEventListener('visibilitychange', this.soon);
      for (const event of ['focus', 'online']) window?.removeEventListener(event, this.soon);
      release();
    };
    void this.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#end?.();
    this.#end = null;
  }

  /** Reads at once. */
  async now(): Promise<void> {
    clearTimeout(this.#timer);
    this.#last = Date.now();
    this.#again = false;
    this.#reading++;
    await this.#read();
    this.#reading--;
    if (this.#again) this.soon();
    else this.#schedule(EVERY);
  }

  /** Reads soon, because something may have changed. */
  readonly soon = (): void => {
    this.#again = this.#reading > 0;
    this.#schedule(Math.max(0, this.#last + AT_LEAST - Date.now()));
  };

  #schedule(delay: number): void {
    const { document } = this.#client.streams.page;
    clearTimeout(this.#timer);
    if (!this.#end || this.#reading > 0 || document?.visibilityState === 'hidden') return;
    this.#timer = setTimeout(() => this.now(), delay);
  }
}
