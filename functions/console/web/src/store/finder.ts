// The chats whose names have some words, while they are being typed.

import { signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import { listSessions } from '../api/sessions';
import type { Session } from '../api/types';

const MOST = 8; // chats
const PAUSE = 120; // milliseconds without typing after which they are asked for
const MAX_PAGES = 10; // pages may be short, because the server filters while reading

export class Finder {
  readonly found = signal<readonly Session[]>([]);
  /** Why it failed; '' if it did not. */
  readonly failed = signal('');
  readonly #api: Api;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reading = new AbortController();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Finds the chats for a text, the newest for ''; what was found before stays until then. */
  find(text: string): void {
    this.stop();
    const reading = new AbortController();
    this.#reading = reading;
    const query = text.trim();
    this.#timer = setTimeout(() => void this.#find(query, reading.signal), query ? PAUSE : 0);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#reading.abort();
  }

  async #find(query: string, stopped: AbortSignal): Promise<void> {
    const found: Session[] = [];
    let cursor: string | undefined;
    try {
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const options = { q: query || undefined, cursor, limit: MOST };
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
