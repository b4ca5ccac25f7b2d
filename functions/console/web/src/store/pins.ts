// The chats that the user keeps at the top of the list. The mark is in a chat's metadata, so that other
// devices see it. A list cannot be asked for them: pages beyond the first are read once to find those.

import { batch, computed, signal } from '@preact/signals-core';
import { PreconditionFailedError } from 'rethread';
import type { Api } from '../api/client';
import { listSessions } from '../api/sessions';
import type { ListedSession, Session } from '../api/types';
import type { Sessions } from './sessions';

const PAGE = 100; // sessions
const PAGES = 10; // at most, to find what was pinned long ago
const ATTEMPTS = 3; // to change metadata that others change too

/**
 * Whether a chat of the user is pinned. A fork has the metadata of its source, but the mark is older than
 * the fork.
 */
export const isPinned = ({ metadata, created_time, access }: ListedSession): boolean =>
  access === undefined && typeof metadata.pinned === 'number' && metadata.pinned >= created_time;

const pinTime = ({ metadata }: ListedSession): number => metadata.pinned as number;

export class Pins {
  /** The user's chats as far as they are listed, and pinned ones beyond. */
  readonly sessions = computed<readonly ListedSession[]>(() => {
    const { list } = this.#list;
    const known = new Set(list.value.map(({ id }) => id));
    return [...list.value, ...this.#far.value.filter(({ id }) => !known.has(id))];
  });
  /** Whether there may be pinned chats that were not found. */
  readonly partly = computed(() => this.#unread.value && this.#list.more.value);

  readonly #api: Api;
  readonly #list: Sessions;
  readonly #far = signal<readonly ListedSession[]>([]);
  readonly #unread = signal(false);
  #looked = false;

  constructor(api: Api, list: Sessions) {
    this.#api = api;
    this.#list = list;
  }

  /** Looks for pinned chats beyond the first page, once. */
  async find(): Promise<void> {
    if (this.#looked) return;
    this.#looked = true;
    this.#unread.value = true;
    try {
      this.#unread.value = !(await this.#find());
    } catch {
      // The list says that there may be more
    }
  }

  /** Pins a chat, or unpins it; returns it. */
  async set(id: string, pinned: boolean): Promise<Session> {
    const session = await this.#change(id, pinned);
    batch(() => {
      this.#far.value = this.#far.value.filter((other) => other.id !== id);
      this.#list.replace(session);
    });
    return session;
  }

  /** Forgets a session that is gone. */
  gone(id: string): void {
    this.#far.value = this.#far.value.filter((other) => other.id !== id);
  }

  async #change(id: string, pinned: boolean): Promise<Session> {
    for (let attempt = 1; ; attempt++) {
      let ifMatch = '';
      const onResponse = ({ headers }: Response) => {
        ifMatch = headers.get('ETag') ?? '';
      };
      const { metadata, created_time } = await this.#api.sessions.get(id, { onResponse });
      const { pinned: _, ...rest } = metadata;
      // This clock may be behind the server's
      const mark = pinned ? { pinned: Math.max(Date.now(), created_time) } : {};
      try {
        return await this.#api.sessions.update(id, { metadata: { ...rest, ...mark } }, { ifMatch });
      } catch (error) {
        if (!(error instanceof PreconditionFailedError) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  // Returns whether the list was read to its end.
  async #find(): Promise<boolean> {
    let cursor = this.#list.cursor;
    for (let page = 0; cursor && page < PAGES; page++) {
      const { data, next } = await listSessions(this.#api, { limit: PAGE, cursor });
      const found = data.filter(isPinned);
      if (found.length > 0) this.#far.value = [...this.#far.value, ...found];
      cursor = next;
    }
    return !cursor;
  }
}

/** The pinned chats before the others, latest pinned first. */
export function pinnedFirst<T>(list: readonly T[], of: (one: T) => ListedSession): [T[], T[]] {
  const pinned = list.filter((one) => isPinned(of(one)));
  return [
    pinned.sort((a, b) => pinTime(of(b)) - pinTime(of(a))),
    list.filter((one) => !isPinned(of(one))),
  ];
}
