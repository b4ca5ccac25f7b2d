// A search of what was said, in the user's own chats and in those that others share with the user, at
// the same time: page by page, until enough was found or the user stops it.

import { batch, computed, signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import { listSessions } from '../api/sessions';
import type { ListedSession } from '../api/types';

export type Found = ListedSession & { match: NonNullable<ListedSession['match']> };

export type SearchState = 'idle' | 'searching' | 'stopped' | 'done' | 'failed';

const PAGE = 20; // sessions
const ENOUGH = 40; // sessions after which the user is asked whether to search on

/** One of the lists that are searched. */
class Scope {
  readonly shared: boolean;
  readonly found = signal<readonly Found[]>([]);
  /** Where to continue; null at the end. */
  next: string | null = '';

  constructor(shared: boolean) {
    this.shared = shared;
  }

  // A session that was used meanwhile may be on two pages.
  take(sessions: readonly ListedSession[], next: string | null): void {
    const known = new Set(this.found.value.map(({ id }) => id));
    const fresh = sessions.filter((one): one is Found => one.match != null && !known.has(one.id));
    if (fresh.length > 0) this.found.value = [...this.found.value, ...fresh];
    this.next = next;
  }
}

export class MessageSearch {
  readonly #own = new Scope(false);
  readonly #shared = new Scope(true);
  readonly #scopes = [this.#own, this.#shared];
  readonly found = computed(() => this.#own.found.value);
  /** What was found in the chats of others. */
  readonly shared = computed(() => this.#shared.found.value);
  readonly count = computed(() => this.found.value.length + this.shared.value.length);
  /** `stopped` when there may be more, `done` when there is no more. */
  readonly state = signal<SearchState>('idle');
  /** What is searched for. */
  readonly words = signal('');
  readonly #api: Api;
  #reading = new AbortController();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Begins a search; one for other words ends. */
  search(words: string): void {
    this.#reading.abort();
    batch(() => {
      this.words.value = words;
      for (const scope of this.#scopes) {
        scope.next = '';
        scope.found.value = [];
      }
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
    const enough = this.count.value + ENOUGH;
    // What one list has is shown even if the other cannot be read
    const results = await Promise.allSettled(
      this.#scopes.map((scope) => this.#readScope(scope, enough, reading.signal)),
    );
    if (reading.signal.aborted) return;
    const failed = results.some(({ status }) => status === 'rejected');
    const more = this.#scopes.some(({ next }) => next !== null);
    this.state.value = failed ? 'failed' : more ? 'stopped' : 'done';
  }

  async #readScope(scope: Scope, enough: number, stopped: AbortSignal): Promise<void> {
    const q = this.words.value;
    while (scope.next !== null && this.count.value < enough) {
      const query = { q, in: 'messages', shared: scope.shared, limit: PAGE } as const;
      const cursor = scope.next || undefined;
      const page = await listSessions(this.#api, { ...query, cursor }, stopped);
      if (stopped.aborted) return;
      batch(() => scope.take(page.data, page.next));
    }
  }
}
