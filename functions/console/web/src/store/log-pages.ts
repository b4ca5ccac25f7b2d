// A part of a session's log up to its end: the newest entries first, older ones on demand.

import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals-core';
import type { Api } from '../api/client';
import { errorText } from '../api/error';
import { readLog, readLogEnd, readRange } from '../api/rewind';
import type { Event } from '../api/types';

const PAGE = 100; // entries

export class LogPages {
  /** The loaded entries, without gaps, oldest first. */
  readonly entries = signal<readonly Event[]>([]);
  readonly loaded = signal(false);
  readonly loading = signal(false);
  /** Why loading failed; '' otherwise. */
  readonly failed = signal('');
  /** Whether there are older entries than those loaded. */
  readonly more: ReadonlySignal<boolean> = computed(() => this.oldest() > 1);

  readonly session: string;
  readonly #api: Api;
  readonly #page: number;
  #stopped = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(session: string, api: Api, page = PAGE) {
    this.session = session;
    this.#api = api;
    this.#page = page;
  }

  /**
   * Reads the newest entries, and again what is new when a value changes, until the returned function
   * is called.
   */
  follow(news: () => unknown): () => void {
    const dispose = effect(() => {
      news();
      untracked(() => void this.refresh());
    });
    return () => {
      this.#stopped = true;
      dispose();
    };
  }

  /** Reads the entries that are new. */
  refresh(): Promise<void> {
    return this.#next(() => this.newest());
  }

  /** Loads entries before the oldest loaded one. */
  loadOlder(): Promise<void> {
    return this.#next(() => this.older());
  }

  /** Loads older entries until a condition holds. Returns whether it does. */
  async until(holds: () => boolean): Promise<boolean> {
    await this.#queue;
    while (!holds() && this.more.value && !this.failed.value && !this.#stopped) {
      await this.loadOlder();
    }
    return holds();
  }

  /** Loads entries back to an invocation. Returns whether it was found. */
  find(invocation: string): Promise<boolean> {
    return this.until(() => this.entries.value.some((entry) => entry.invocation_id === invocation));
  }

  protected async newest(): Promise<void> {
    const entries = this.entries.value;
    if (entries.length === 0) {
      this.#take(await readLogEnd(this.#api, this.session, this.#page));
    } else {
      // An event that was in progress when loaded has changed since
      const open = entries.find(({ status }) => status === 'in_progress')?.seq;
      const last = entries.at(-1)?.seq ?? 0;
      this.#take(await readLog(this.#api, this.session, open === undefined ? last : open - 1));
    }
    this.loaded.value = true;
  }

  protected async older(): Promise<void> {
    const oldest = this.oldest();
    if (oldest <= 1) return;
    const after = Math.max(0, oldest - 1 - this.#page);
    this.#take(await readRange(this.#api, this.session, after, oldest - 1));
  }

  /** The position of the oldest loaded entry; 0 if there is none. */
  protected oldest(): number {
    return this.entries.value[0]?.seq ?? 0;
  }

  // Serialises reads, so that the entries never have a gap.
  #next(read: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      if (this.#stopped) return;
      this.loading.value = true;
      this.failed.value = '';
      try {
        await read();
      } catch (error) {
        this.failed.value = errorText(error);
      } finally {
        this.loading.value = false;
      }
    });
    return this.#queue;
  }

  #take(entries: readonly Event[]): void {
    if (entries.length > 0) this.entries.value = merge(this.entries.value, entries);
  }
}

/** Merges by position; `more` has the newer form of an entry in both. */
export function merge(log: readonly Event[], more: readonly Event[]): readonly Event[] {
  const bySeq = new Map(log.map((entry) => [entry.seq, entry]));
  for (const entry of more) bySeq.set(entry.seq, entry);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}
