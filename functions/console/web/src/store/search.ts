// A search of what was said: page by page, until enough was found or the user stops it.

import { batch, signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import { listSessions } from '../api/sessions';
import type { Session } from '../api/types';

export type Found = Session & { match: NonNullable<Session['match']> };

export type SearchState = 'idle' | 'searching' | 'stopped' | 'done' | 'failed';

const PAGE = 20; // sessions
const ENOUGH = 40; // sessions after which the user is asked whether to search on

export class MessageSearch {
  readonly found = signal<readonly Found[]>([]);
  /** `stopped` when there may be more, `done` when there is no more. */
  readonly state = signal<SearchState>('idle');
  /** What is searched for. */
  readonly words = signal('');
  readonly #api: Api;
  #next: string | null = null;
  #reading = new AbortController();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Begins a search; one for other words ends. */
  search(words: string): void {
    this.#reading.abort();
    this.#next = null;
    batch(() => {
      this.words.value = words;
      this.found.value = [];
      this.state.value = 'idle';
    });
    if (words !== '') void this.#read();
  }

  /** Ends the search, keeping what was found. */
  stop(): void {
    this.#reading.abort();
    if (this.state.value === 'searching') this.state.value = 'stopped';
  }

  /** Searches on, after a stop, a failure, or enough results. */
  resume(): void {
    const { value } = this.state;
    if (value === 'stopped' || value === 'failed') void this.#read();
  }

  async #read(): Promise<void> {
    const reading = new AbortController();
    this.#reading = reading;
    this.state.value = 'searching';
    const q = this.words.value;
    const enough = this.found.value.length + ENOUGH;
    try {
      do {
        const query = { q, in: 'messages', cursor: this.#next ?? undefined, limit: PAGE } as const;
        const page = await listSessions(this.#api, query, reading.signal);
        if (reading.signal.aborted) return;
        batch(() => this.#take(page.data, page.next));
      } while (this.#next !== null && this.found.value.length < enough);
      this.state.value = this.#next === null ? 'done' : 'stopped';
    } catch {
      if (!reading.signal.aborted) this.state.value = 'failed';
    }
  }

  // A session that was used meanwhile may be on two pages.
  #take(sessions: readonly Session[], next: string | null): void {
    const known = new Set(this.found.value.map(({ id }) => id));
    const fresh = sessions.filter((one): one is Found => one.match != null && !known.has(one.id));
    if (fresh.length > 0) this.found.value = [...this.found.value, ...fresh];
    this.#next = next;
  }
}
