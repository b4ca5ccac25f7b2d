// A list of sessions: latest activity first, searchable by name, kept up to date. There are two: the
// user's own sessions, and those that others share with the user.

import { batch, computed, signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import { deleteSession, renameSession } from '../api/sessions';
import type { ListedSession, Session } from '../api/types';
import { rightsOf } from './rights';
import { readPage, readPages } from './session-pages';

const POLL_INTERVAL = 4000; // milliseconds, while the page is visible
const SHARED_INTERVAL = 15_000; // such a list costs the server several reads a session

export type ListKind = 'mine' | 'shared';

export class Sessions {
  readonly kind: ListKind;
  readonly list = signal<readonly ListedSession[]>([]);
  readonly query = signal('');
  readonly loaded = signal(false);
  readonly loading = signal(false);
  readonly failed = signal(false);
  /** The sessions whose answers have ended since they were last open. */
  readonly answered = signal<ReadonlySet<string>>(new Set());
  readonly #next = signal<string | null>(null);
  readonly more = computed(() => this.#next.value !== null);
  /** Where the list goes on; null at its end. */
  get cursor(): string | null {
    return this.#next.peek();
  }

  readonly #api: Api;
  readonly #others: BroadcastChannel;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0; // number of the newest request; responses to older ones are ignored
  #running = false; // whether it is kept up to date
  #pages = 1; // number of loaded pages

  constructor(
    api: Api,
    kind: ListKind = 'mine',
    channel = new BroadcastChannel(`rethread.sessions ${kind}`),
  ) {
    this.#api = api;
    this.kind = kind;
    this.#others = channel;
  }

  start(): void {
    this.#running = true;
    this.#others.onmessage = () => void this.refresh();
    document.addEventListener('visibilitychange', this.#wake);
    addEventListener('online', this.#wake);
    void this.refresh();
  }

  /** Stops until the next `start`. */
  pause(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#others.onmessage = null;
    document.removeEventListener('visibilitychange', this.#wake);
    removeEventListener('online', this.#wake);
  }

  stop(): void {
    this.pause();
    this.#others.close();
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
      const page = await readPage(this.#api, this.#filter, cursor);
      if (asked !== this.#asked) return;
      const known = new Set(this.list.value.map(({ id }) => id));
      const list = [...this.list.value, ...page.data.filter(({ id }) => !known.has(id))];
      this.#pages++;
      this.#take(this.#sorted(list), page.next);
    } catch {
      this.failed.value = true;
    } finally {
      this.loading.value = false;
      this.#schedule();
    }
  }

  /** Applies a change made by this tab, and notifies the other tabs. */
  changed(session?: Session): void {
    const listed = session && rightsOf(session).own === (this.kind === 'mine');
    if (listed && !this.query.value) {
      this.list.value = [session, ...this.list.value.filter(({ id }) => id !== session.id)];
    }
    this.#others.postMessage('changed');
    if (this.#running) void this.refresh();
  }

  async rename(id: string, name: string): Promise<Session> {
    const session = await renameSession(this.#api, id, name);
    this.replace(session);
    return session;
  }

  /** Shows a change of a session in its place. */
  replace(session: Session): void {
    this.list.value = this.list.value.map((old) => (old.id === session.id ? session : old));
    this.changed();
  }

  async remove(id: string): Promise<void> {
    await deleteSession(this.#api, id);
    this.gone(id);
  }

  /** Removes a session that is gone from the list. */
  gone(id: string): void {
    this.list.value = this.list.value.filter((session) => session.id !== id);
    this.changed();
  }

  /** Takes it that the user has seen the newest answer of a session. */
  readonly see = (id: string): void => {
    if (!this.answered.peek().has(id)) return;
    this.answered.value = new Set([...this.answered.peek()].filter((other) => other !== id));
  };

  readonly #wake = (): void => {
    if (document.visibilityState === 'visible') void this.refresh();
  };

  async #load(anew: boolean): Promise<void> {
    const asked = ++this.#asked;
    clearTimeout(this.#timer);
    if (anew) this.loading.value = true;
    try {
      // The pages of shared sessions are in no order, so the top cannot stand for the rest.
      const count = anew || this.kind === 'mine' ? 1 : this.#pages;
      const page = await readPages(this.#api, this.#filter, count);
      if (asked !== this.#asked) return;
      if (anew) this.#pages = 1;
      if (anew || this.kind === 'shared') this.#take(this.#sorted(page.data), page.next);
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

  get #filter() {
    return { q: this.query.value || undefined, shared: this.kind === 'shared' };
  }

  #sorted(list: ListedSession[]): ListedSession[] {
    return this.kind === 'mine' ? list : list.sort((a, b) => b.updated_time - a.updated_time);
  }

  // The first page replaces the top of the list; further loaded pages stay.
  #merge(top: ListedSession[], next: string | null): void {
    const oldest = top.at(-1)?.updated_time ?? 0;
    const ids = new Set(top.map(({ id }) => id));
    const rest = this.list.value.filter((s) => !ids.has(s.id) && s.updated_time < oldest);
    if (!next || rest.length === 0) this.#take(top, next);
    else this.#take([...top, ...rest], this.#next.value);
  }

  #take(list: ListedSession[], next: string | null): void {
    batch(() => {
      const ended = endedIn(this.list.value, list);
      if (ended.length > 0) this.answered.value = new Set([...this.answered.value, ...ended]);
      this.list.value = same(this.list.value, list);
      this.#next.value = next;
      this.loaded.value = true;
      this.failed.value = false;
    });
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#running || document.visibilityState !== 'visible') return;
    const interval = this.kind === 'mine' ? POLL_INTERVAL : SHARED_INTERVAL;
    this.#timer = setTimeout(() => void this.refresh(), interval);
  }
}

/** The sessions whose runs have ended between two lists. */
function endedIn(old: readonly ListedSession[], list: readonly ListedSession[]): string[] {
  const running = new Set(old.flatMap(({ id, status }) => (status === 'in_progress' ? id : [])));
  return list.flatMap(({ id, status }) => (running.has(id) && status === 'idle' ? id : []));
}

// Keeps what has not changed, so that it is not rendered again.
function same(old: readonly ListedSession[], list: ListedSession[]): readonly ListedSession[] {
  const known = new Map(old.map((session) => [session.id, session]));
  const kept = list.map((session) => {
    const before = known.get(session.id);
    return before && JSON.stringify(before) === JSON.stringify(session) ? before : session;
  });
  const unchanged = kept.length === old.length && kept.every((session, i) => session === old[i]);
  return unchanged ? old : kept;
}
