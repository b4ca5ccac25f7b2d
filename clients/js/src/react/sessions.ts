// The list of sessions as `useSessions` shows it.

import type { Rethread } from '../client.js';
import type { ListedSession, Query, Session, SessionRequest } from '../types.js';
import { Polling } from './polling.js';
import { Store } from './store.js';

export type SessionsQuery = Omit<Query<'listSessions'>, 'cursor'>;

export interface SessionsState {
  /** Newest activity first. */
  sessions: readonly ListedSession[];
  loaded: boolean;
  /** Whether `more` loads further ones. */
  has_more: boolean;
  /** Why the list could not be read; null once it could. */
  error: unknown;
}

export const NO_SESSIONS: SessionsState = {
  sessions: [],
  loaded: false,
  has_more: false,
  error: null,
};

export class SessionsStore extends Store<SessionsState> {
  readonly #client: Rethread;
  readonly #query: SessionsQuery;
  readonly #changed: () => void;
  #cursor: string | null = null;
  readonly #polling: Polling;
  #request = 0; // number of the newest; responses to older ones are ignored

  constructor(client: Rethread, query: SessionsQuery, changed: () => void) {
    super(NO_SESSIONS);
    this.#client = client;
    this.#query = query;
    this.#changed = changed;
    this.#polling = new Polling(client, () => this.#read());
  }

  protected start(): void {
    this.#polling.start();
  }

  protected stop(): void {
    this.#polling.stop();
    this.#request++;
    this.#cursor = null;
  }

  /** Reads the top of the list again; sessions that were loaded after it stay. */
  async refresh(): Promise<void> {
    if (this.running) await this.#polling.now();
  }

  /** Reads soon, because another client may have changed something. */
  soon(): void {
    this.#polling.soon();
  }

  async #read(): Promise<void> {
    const request = ++this.#request;
    try {
      const page = await this.#client.sessions.list(this.#query);
      if (request !== this.#request) return;
      const oldest = page.data.at(-1)?.updated_time ?? 0;
      const top = new Set(page.data.map(({ id }) => id));
      const rest = this.get().sessions.filter((s) => !top.has(s.id) && s.updated_time < oldest);
      const keep = page.next_cursor !== null && rest.length > 0;
      if (!keep) this.#cursor = page.next_cursor;
      this.#show(keep ? [...page.data, ...rest] : page.data);
    } catch (error) {
      if (request === this.#request) this.set({ error });
    }
  }

  /** Loads the sessions after those shown. */
  async more(): Promise<void> {
    const cursor = this.#cursor;
    if (!cursor) return;
    const request = ++this.#request;
    const page = await this.#client.sessions.list({ ...this.#query, cursor });
    if (request !== this.#request) return;
    const known = new Set(this.get().sessions.map(({ id }) => id));
    this.#cursor = page.next_cursor;
    this.#show([...this.get().sessions, ...page.data.filter(({ id }) => !known.has(id))]);
  }

  async create(session: SessionRequest = {}): Promise<Session> {
    const created = await this.#client.sessions.create(session);
    this.#changed();
    return created;
  }

  async rename(id: string, name: string): Promise<Session> {
    const renamed = await this.#client.sessions.update(id, { name });
    this.set({ sessions: this.get().sessions.map((old) => (old.id === id ? renamed : old)) });
    this.#changed();
    return renamed;
  }

  async remove(id: string): Promise<void> {
    await this.#client.sessions.delete(id);
    this.set({ sessions: this.get().sessions.filter((session) => session.id !== id) });
    this.#changed();
  }

  #show(sessions: readonly ListedSession[]): void {
    this.set({ sessions, has_more: this.#cursor !== null, loaded: true, error: null });
  }
}
