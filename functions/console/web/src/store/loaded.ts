// A value that is read from the API and read again while it is shown: when the tab gets the focus, when
// the network returns, and when another tab has changed it.

import { signal } from '@preact/signals-core';
import { errorText } from '../api/error';

export class Loaded<T> {
  /** Null until the first read has succeeded. */
  readonly value = signal<T | null>(null);
  /** Why the newest read failed; '' otherwise. */
  readonly failed = signal('');
  readonly loading = signal(false);

  readonly #read: () => Promise<T>;
  readonly #topic: string;
  #asked = 0; // number of the newest read; results of older ones are ignored
  #others: BroadcastChannel | undefined;

  /** @param topic names what is read, for the other tabs */
  constructor(topic: string, read: () => Promise<T>) {
    this.#topic = topic;
    this.#read = read;
  }

  /** Reads, and reads again, until the returned function is called. */
  start(): () => void {
    this.#others = new BroadcastChannel(`rethread.${this.#topic}`);
    this.#others.onmessage = () => void this.reload();
    const wake = () => {
      if (document.visibilityState === 'visible') void this.reload();
    };
    const targets: [EventTarget, string][] = [
      [document, 'visibilitychange'],
      [window, 'focus'],
      [window, 'online'],
    ];
    for (const [target, event] of targets) target.addEventListener(event, wake);
    void this.reload();
    return () => {
      for (const [target, event] of targets) target.removeEventListener(event, wake);
      this.#others?.close();
      this.#others = undefined;
      this.#asked++;
    };
  }

  async reload(): Promise<void> {
    const asked = ++this.#asked;
    this.loading.value = true;
    try {
      const value = await this.#read();
      if (asked === this.#asked) this.#take(value);
    } catch (error) {
      if (asked === this.#asked) this.failed.value = errorText(error);
    } finally {
      if (asked === this.#asked) this.loading.value = false;
    }
  }

  /** Applies a change that this tab has made, and notifies the other tabs. */
  changed(value?: T): void {
    if (value !== undefined) {
      this.#asked++; // a read that began before has an older value
      this.loading.value = false;
      this.#take(value);
    } else void this.reload();
    this.#others?.postMessage('changed');
  }

  #take(value: T): void {
    this.value.value = value;
    this.failed.value = '';
  }
}
