// The list of sessions: latest activity first, searchable by name, kept up to date.

import { batch, computed, signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import { deleteSession, listSessions, renameSession } from '../api/sessions';
import type { Session } from '../api/types';
import { rightsOf } from './rights';

const PAGE = 40;
const POLL_INTERVAL = 4000; // milliseconds, while the page is visible
const MAX_EMPTY_PAGES = 10; // a search reads on until a page has results, at most this often

export class Sessions {
  readonly list = signal<readonly Session[]>([]);
  readonly query = signal('');
  readonly loaded = signal(false);
  readonly loading = signal(false);
  readonly failed = signal(false);
  readonly #next = signal<string | null>(null);
  readonly more = computed(() => this.#next.value !== null);

  readonly #api: Api;
  readonly #others: BroadcastChannel;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0; // number of the newest request; responses to older ones are ignored
  #running = false;

  constructor(api: Api, channel = new BroadcastChannel('rethread.sessions')) {
    this.#api = api;
    this.#others = channel;
  }

  start(): void {
    this.#running = true;
    this.#others.onmessage = () => void this.refresh();
    document.addEventListener('visibilitychange', this.#wake);
    addEventListener('online', this.#wake);
    void this.refresh();
  }

  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#others.close();
    document.removeEventListener('visibilitychange', this.#wake);
    removeEventListener('online', this.#wake);
  }

  /** Lists the sessions whose names contain each word of a text, in any order. */
  async search(text: string): Promise<void> {
    if (text === this.query.value) return;
    this.query.value = text;
    await this.#load(true);
  }

  /** Reloads the top of the list. */
  async refresh(): Promise<void> {
    await this.#load(false);
  }

  async loadMore(): Promise<void> {
    const cursor = this.#next.value;
    if (!cursor || this.loading.value) return;
    const asked = ++this.#asked;
    this.loading.value = true;
    try {
      const page = await this.#page(cursor);
      if (asked !== this.#asked) return;
      const known = new Set(this.list.value.map(({ id }) => id));
      this.#take([...this.list.value, ...page.data.filter(({ id }) => !known.has(id))], page.next);
    } catch {
      this.failed.value = true;
    } finally {
      this.loading.value = false;
      this.#schedule();
    }
  }

  /** Applies a change made by this tab, and notifies the other tabs. */
  changed(session?: Session): void {
    const listed = session && rightsOf(session).own;
    if (listed && !this.query.value) {
      this.list.value = [session, ...this.list.value.filter(({ id }) => id !== session.id)];
    }
    this.#others.postMessage('changed');
    void this.refresh();
  }

  async rename(id: string, name: string): Promise<Session> {
    const session = await renameSession(this.#api, id, name);
    this.list.value = this.list.value.map((old) => (old.id === id ? session : old));
    this.changed();
    return session;
  }

  async remove(id: string): Promise<void> {
    await deleteSession(this.#api, id);
    this.list.value = this.list.value.filter((session) => session.id !== id);
    this.changed();
  }

  readonly #wake = (): void => {
    if (document.visibilityState === 'visible') void this.refresh();
  };

  async #load(anew: boolean): Promise<void> {
    const asked = ++this.#asked;
    clearTimeout(this.#timer);
    if (anew) this.loading.value = true;
    try {
      const page = await this.#page();
      if (asked !== this.#asked) return;
      if (anew) this.#take(page.data, page.next);
      else this.#merge(page.data, page.next);
    } catch {
      if (asked === this.#asked) this.failed.value = true; // retried at the next poll
    } finally {
      if (asked === this.#asked) {
        this.loading.value = false;
        this.#schedule();
      }
    }
  }

  // A page may be empty although more follow, because the server filters while reading.
  async #page(cursor?: string) {
    const q = this.query.value || undefined;
    let page = await listSessions(this.#api, { q, cursor, limit: PAGE });
    for (let i = 0; page.data.length === 0 && page.next && i < MAX_EMPTY_PAGES; i++) {
      page = await listSessions(this.#api, { q, cursor: page.next, limit: PAGE });
    }
    return page;
  }

  // The first page replaces the top of the list; further loaded pages stay.
  #merge(top: Session[], next: string | null): void {
    const oldest = top.at(-1)?.updated_time ?? 0;
    const ids = new Set(top.map(({ id }) => id));
    const rest = this.list.value.filter((s) => !ids.has(s.id) && s.updated_time < oldest);
    if (!next || rest.length === 0) this.#take(top, next);
    else this.#take([...top, ...rest], this.#next.value);
  }

  #take(list: Session[], next: string | null): void {
    batch(() => {
      this.list.value = same(this.list.value, list);
      this.#next.value = next;
      this.loaded.value = true;
      this.failed.value = false;
    });
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#running || document.visibilityState !== 'visible') return;
    this.#timer = setTimeout(() => void this.refresh(), POLL_INTERVAL);
  }
}

// Keeps the old list if nothing has changed, so that nothing is rendered again.
function same(old: readonly Session[], list: Session[]): readonly Session[] {
  return JSON.stringify(old) === JSON.stringify(list) ? old : list;
}
