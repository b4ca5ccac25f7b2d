// The other messages of a found chat in which the words were said: older than the newest, which the
// search has found. They are read when the user asks for them, some at a time.

import { batch, signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import type { Event, ListedSession } from '../api/types';
import { firstMatch } from './marks';

export type Hit = NonNullable<ListedSession['match']>;

const PAGE = 200; // events
const PAGES = 5; // at most, each time
const ENOUGH = 5; // hits, each time

export class SearchWithin {
  readonly hits = signal<readonly Hit[]>([]);
  /** `stopped` when there may be more. */
  readonly state = signal<'stopped' | 'reading' | 'done' | 'failed'>('stopped');
  readonly #api: Api;
  readonly #session: string;
  readonly #words: string;
  /** The position of the oldest hit. */
  #before: number;
  #cursor: string | null = null;

  constructor(api: Api, session: { id: string; match: Hit }, words: string) {
    this.#api = api;
    this.#session = session.id;
    this.#before = session.match.seq;
    this.#words = words;
  }

  async read(): Promise<void> {
    if (this.state.value === 'reading') return;
    this.state.value = 'reading';
    try {
      const [found, more] = await this.#read();
      batch(() => {
        this.hits.value = [...this.hits.value, ...found];
        this.state.value = more ? 'stopped' : 'done';
      });
    } catch {
      this.state.value = 'failed';
    }
  }

  async #read(): Promise<[Hit[], boolean]> {
    const found: Hit[] = [];
    for (let page = 0; page < PAGES && found.length < ENOUGH; page++) {
      const query = { view: 'effective', order: 'desc', limit: PAGE } as const;
      const cursor = this.#cursor === null ? {} : { cursor: this.#cursor };
      const { data, next_cursor } = await this.#api.events.list(this.#session, {
        ...query,
        ...cursor,
      });
      found.push(...data.flatMap((event) => this.#hit(event)));
      this.#cursor = next_cursor;
      if (next_cursor === null) return [found, false];
    }
    return [found, true];
  }

  #hit(event: Event): Hit[] {
    const { id, invocation_id, seq, author, status } = event;
    if (seq >= this.#before || status === 'in_progress') return [];
    const text = excerpt(textOf(event), this.#words);
    if (text === null) return [];
    this.#before = seq;
    return [{ event_id: id, invocation_id, seq, author, text }];
  }
}

// What an event says, by the server's rule: without thoughts.
function textOf({ content }: Event): string {
  const parts = (content?.parts ?? []) as { text?: unknown; thought?: unknown }[];
  return parts
    .flatMap(({ text, thought }) => (typeof text === 'string' && thought !== true ? text : []))
    .join('\n');
}

const BEFORE = 40; // characters of an excerpt before the first word
const LENGTH = 200;

/** The part of a text around the first word; null if a word is missing. */
function excerpt(text: string, words: string): string | null {
  const line = text.replace(/\s+/g, ' ').trim();
  const at = firstMatch(line, words);
  if (at === null) return null;
  const from = at <= BEFORE ? 0 : Math.max(line.lastIndexOf(' ', at - BEFORE) + 1, at - 2 * BEFORE);
  const cut = Array.from(line.slice(from)).slice(0, LENGTH).join('');
  return `${from > 0 ? '…' : ''}${cut}${from + cut.length < line.length ? '…' : ''}`;
}
