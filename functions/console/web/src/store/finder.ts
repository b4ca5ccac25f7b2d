// The chats whose names have some words, while they are being typed: the user's own, or those that
// others share with the user.

import { signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import { listSessions } from '../api/sessions';
import type { ListedSession } from '../api/types';

const MOST = 8; // chats
const PAUSE = 120; // milliseconds without typing after which they are asked for
const MAX_PAGES = 10; // pages may be short, because the server filters while reading

export class Finder {
  readonly found = signal<readonly ListedSession[]>([]);
  /** Why it failed; '' if it did not. */
  readonly failed = signal('');
  readonly #api: Api;
  readonly #shared: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reading = new AbortController();

  constructor(api: Api, shared = false) {
    this.#api = api;
    this.#shared = shared;
  }

  /**
   * Finds the chats for a text; what was found before stays until then. For '' they are the user's
   * newest, but none of others, since that list costs the server several reads a session.
   */
  find(text: string): void {
    this.stop();
    const query = text.trim();
    if (query === '' && this.#shared) {
      this.failed.value = '';
      this.found.value = [];
      return;
    }
    const reading = new AbortController();
    this.#reading = reading;
    this.#timer = setTimeout(() => void this.#find(query, reading.signal), query ? PAUSE : 0);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#reading.abort();
  }

  async #find(query: string, stopped: AbortSignal): Promise<void> {
    const found: ListedSession[] = [];
    let cursor: string | undefined;
    try {
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const options = { q: query || undefined, shared: this.#shared, cursor, limit: MOST };
        const page = await listSessions(this.#api, options, stopped);
        found.push(...page.data);
        cursor = page.next ?? undefined;
        if (found.length >= MOST || !cursor) break;
      }
      if (stopped.aborted) return;
      this.failed.value = '';
      this.found.value = found.slice(0, MOST);
    } catch {
      if (!stopped.aborted) this.failed.value = 'The chats could not be loaded.';
    }
  }
}
