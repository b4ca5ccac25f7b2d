// The complete log of a session: the newest entries first, older ones on demand, and new ones as
// they are appended.

import { computed, effect, signal, untracked } from '@preact/signals-core';
import type { Api } from '../api/client';
import { errorText } from '../api/error';
import { readLog, readLogEnd, readRange } from '../api/rewind';
import type { Event } from '../api/types';
import type { Chat } from './chat';
import { shownBefore } from './history-lineage';
import { historyRows } from './history-rows';
import { Messages } from './message';

const PAGE = 100; // entries

export class History {
  readonly #entries = signal<readonly Event[]>([]);
  readonly #loaded = signal(false);
  readonly loading = signal(false);
  /** Why loading failed; '' otherwise. */
  readonly failed = signal('');
  /** Whether there are older entries than those loaded. */
  readonly more = computed(() => (this.#entries.value[0]?.seq ?? 1) > 1 || this.#behind.value);
  /** Whether the chat is loaded less far back than the log. */
  readonly #behind = computed(() => this.#chat.older.more.value && this.#from() > this.#oldest());
  /** Ids of the events that the session shows now. */
  readonly #shown = computed(() => new Set(this.#chat.items.value.map(({ id }) => id)));
  readonly #log = computed(() => {
    const entries = this.#entries.value;
    const oldest = this.#oldest(); // older items would leave a gap
    const items = this.#chat.items.value.filter(({ seq }) => seq >= oldest);
    if (!this.#loaded.value) return [];
    // It is unknown which entries before the chat's items are shown
    const from = this.#behind.value ? this.#from() : 0;
    return merge(entries, items).filter(({ seq }) => seq >= from);
  });
  readonly #messages = new Messages();
  readonly rows = computed(() =>
    historyRows(this.#log.value, this.#shown.value, this.#messages, this.#chat.state.value),
  );
  /** Whether the log and the chat are loaded. */
  readonly ready = computed(() => this.#loaded.value && this.#chat.loaded.value);

  readonly #chat: Chat;
  readonly #api: Api;
  #stopped = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(chat: Chat, api: Api) {
    this.#chat = chat;
    this.#api = api;
  }

  /** Loads the newest entries, and follows the log until the returned function is called. */
  start(): () => void {
    const dispose = effect(() => {
      this.#chat.epoch.value; // a rewind changes the log, but not always the chat
      untracked(() => void this.#newest());
    });
    return () => {
      this.#stopped = true;
      dispose();
    };
  }

  /** Loads entries before the oldest loaded one. */
  loadOlder(): Promise<void> {
    return this.#next(async () => {
      const oldest = this.#entries.value[0]?.seq ?? 1;
      if (oldest > 1 && !this.#behind.value) {
        const after = Math.max(0, oldest - 1 - PAGE);
        this.#take(await readRange(this.#api, this.#chat.id, after, oldest - 1));
      }
      await this.#reach();
    });
  }

  /** Loads entries back to an invocation. Returns whether it was found. */
  async find(invocation: string): Promise<boolean> {
    const there = () => this.#entries.value.some((entry) => entry.invocation_id === invocation);
    await this.#queue;
    while (!there() && this.more.value && !this.failed.value && !this.#stopped) {
      await this.loadOlder();
    }
    return there();
  }

  hides(id: string): boolean {
    return this.#loaded.value && !this.#shown.value.has(id);
  }

  /** Returns the boundary invocation of the rewind after which a message is the last one shown. */
  following({ seq, invocation_id: own }: Event): string | null {
    const begun = new Set<string>();
    for (const entry of this.#log.value) {
      const fresh = !begun.has(entry.invocation_id);
      begun.add(entry.invocation_id);
      if (entry.seq > seq && entry.invocation_id !== own && fresh) return entry.invocation_id;
    }
    return null;
  }

  /**
   * Returns the messages shown after a rewind to before an invocation; null for an unknown one, or
   * unless the log is loaded completely.
   */
  shownBefore(invocation: string): Event[] | null {
    return this.more.value ? null : shownBefore(this.#log.value, invocation);
  }

  #newest(): Promise<void> {
    return this.#next(async () => {
      const entries = this.#entries.value;
      const { id } = this.#chat;
      if (entries.length === 0) {
        this.#take(await readLogEnd(this.#api, id, PAGE));
      } else {
        // An event that was in progress when loaded has changed since
        const open = entries.find(({ status }) => status === 'in_progress')?.seq;
        const last = entries.at(-1)?.seq ?? 0;
        this.#take(await readLog(this.#api, id, open === undefined ? last : open - 1));
      }
      this.#loaded.value = true;
      if (this.#chat.loaded.value) await this.#reach();
    });
  }

  #oldest(): number {
    return this.#entries.value[0]?.seq ?? 0;
  }

  // Position from which on the chat is loaded.
  #from(): number {
    return this.#chat.items.value[0]?.seq ?? 0;
  }

  async #reach(): Promise<void> {
    if (!(await this.#chat.reach(this.#oldest()))) throw new Error(this.#chat.older.failed.value);
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
    if (entries.length > 0) this.#entries.value = merge(this.#entries.value, entries);
  }
}

// Merges by position; `more` has the newer form of an entry in both.
function merge(log: readonly Event[], more: readonly Event[]): readonly Event[] {
  const bySeq = new Map(log.map((entry) => [entry.seq, entry]));
  for (const entry of more) bySeq.set(entry.seq, entry);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}
