// The part of a chat's log from which the variants of its questions follow: from the oldest message
// that the chat has loaded on, kept up to date with its rewinds.

import { computed, effect, signal, untracked } from '@preact/signals-core';
import type { Api } from '../api/client';
import { readRange } from '../api/rewind';
import type { LiveSession } from './live';
import { type Mark, markOf } from './variants-model';

/** Entries that are read at most: questions before them show no variants. */
export const MOST_ENTRIES = 2000;

/** A part of the log up to its end, as it was at an epoch. */
interface Read {
  marks: readonly Mark[];
  from: number;
  to: number;
  epoch: number;
}

export class VariantsLog {
  // Before the first rewind, the chat is the log
  readonly read = signal<Read>({ marks: [], from: 0, to: 0, epoch: 0 });
  readonly #chat: LiveSession;
  readonly #api: Api;
  #reading: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(chat: LiveSession, api: Api) {
    this.#chat = chat;
    this.#api = api;
  }

  /** Follows the chat until the returned function is called. */
  start(): () => void {
    const { epoch, items, loaded, connection } = this.#chat;
    const news = computed(() => {
      const live = connection.value.state === 'live'; // what failed is tried again
      return [epoch.value, items.value[0]?.seq, loaded.value, live].join();
    });
    const dispose = effect(() => {
      news.value;
      untracked(() => this.#follow());
    });
    return () => {
      this.#stopped = true;
      dispose();
    };
  }

  /** Reads what is new in the log, and what the chat has loaded further back. */
  refresh(): Promise<void> {
    return this.#next(() => this.#read());
  }

  /** The loaded part of the log, with what has arrived since. */
  marks(): { marks: Mark[]; whole: boolean } {
    const { marks, from, to } = this.read.peek();
    const items = this.#chat.items.peek();
    const newer = items.filter(({ seq }) => seq > to && seq >= from).map(markOf);
    const first = marks[0]?.seq ?? newer[0]?.seq ?? 1;
    const whole = first === 1 || (marks.length === 0 && !this.#chat.older.more.peek());
    return { marks: [...marks, ...newer], whole };
  }

  // If that fails, what is known stays; the next change reads again.
  #follow(): void {
    this.#next(async () => {
      if (this.#behind()) await this.#read();
    }).catch(() => {});
  }

  // One read after the other, so that the entries have no gap.
  #next(read: () => Promise<void>): Promise<void> {
    const next = this.#reading.then(read);
    this.#reading = next.catch(() => {});
    return next;
  }

  #behind(): boolean {
    const { epoch, from } = this.read.peek();
    const further = from > 0 && this.#from() < from;
    return this.#chat.loaded.peek() && (epoch !== this.#chat.epoch.peek() || further);
  }

  // The position from which on entries are wanted.
  #from(): number {
    const { older, items, session } = this.#chat;
    const { from, to } = this.read.peek();
    const oldest = older.more.peek() ? (items.peek()[0]?.seq ?? 1) : 1;
    const head = Math.max(to, session.peek()?.head_seq ?? 0, items.peek().at(-1)?.seq ?? 0);
    const wanted = Math.max(1, oldest, head - MOST_ENTRIES);
    return from > 0 ? Math.min(from, wanted) : wanted;
  }

  async #read(): Promise<void> {
    const epoch = this.#chat.epoch.peek();
    if (this.#stopped || epoch === 0) return;
    const { id } = this.#chat;
    const { marks: known, from: before, to } = this.read.peek();
    const from = this.#from();
    const back = before > from ? await readRange(this.#api, id, from - 1, before - 1) : [];
    const after = before > 0 ? to : from - 1;
    const news = await readRange(this.#api, id, after, Number.MAX_SAFE_INTEGER);
    if (this.#stopped) return;
    const marks = [...back.map(markOf), ...known, ...news.map(markOf)];
    this.read.value = { marks, from, to: marks.at(-1)?.seq ?? after, epoch };
  }
}
