// The record of a webhook's deliveries: the latest first, page by page, kept up to date.

import { batch, computed, signal } from '@preact/signals-core';
import type { Delivery } from 'rethread';
import type { Api } from '../api/client';
import { errorText } from '../api/error';

const PAGE = 50;
const POLL_INTERVAL = 2000; // milliseconds, while something is under way and the page is visible
const EXPECT_FOR = 60_000; // milliseconds; a delivery is listed after its first attempt

export class Deliveries {
  readonly list = signal<readonly Delivery[]>([]);
  readonly loaded = signal(false);
  readonly loading = signal(false);
  readonly failed = signal('');
  readonly #next = signal<string | null>(null);
  readonly more = computed(() => this.#next.value !== null);

  readonly #api: Api;
  readonly #webhook: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0; // number of the newest request; responses to older ones are ignored
  #running = false;
  #expected = new Map<string, number>(); // until when a delivery that is not listed yet is looked for

  constructor(api: Api, webhook: string) {
    this.#api = api;
    this.#webhook = webhook;
  }

  /** Reads, and reads again, until the returned function is called. */
  start(): () => void {
    this.#running = true;
    const targets: [EventTarget, string][] = [
      [document, 'visibilitychange'],
      [window, 'focus'],
      [window, 'online'],
    ];
    for (const [target, event] of targets) target.addEventListener(event, this.#wake);
    void this.refresh();
    return () => {
      this.#running = false;
      this.#asked++;
      clearTimeout(this.#timer);
      for (const [target, event] of targets) target.removeEventListener(event, this.#wake);
    };
  }

  /** Looks for a delivery that has been requested, until its first attempt is over. */
  expect({ id }: Delivery): void {
    this.#expected.set(id, Date.now() + EXPECT_FOR);
    void this.refresh();
  }

  /** Reloads the top of the list. */
  refresh(): Promise<void> {
    return this.#load(undefined);
  }

  async loadMore(): Promise<void> {
    const cursor = this.#next.value;
    if (cursor && !this.loading.value) await this.#load(cursor);
  }

  async #load(cursor: string | undefined): Promise<void> {
    const asked = ++this.#asked;
    clearTimeout(this.#timer);
    this.loading.value = true;
    try {
      const query = { limit: PAGE, ...(cursor && { cursor }) };
      const { data, next_cursor } = await this.#api.webhooks.deliveries(this.#webhook, query);
      if (asked !== this.#asked) return;
      batch(() => {
        if (cursor) this.#append(data, next_cursor);
        else this.#merge(data, next_cursor);
        this.loaded.value = true;
        this.failed.value = '';
      });
    } catch (error) {
      if (asked === this.#asked) this.failed.value = errorText(error);
    } finally {
      if (asked === this.#asked) {
        this.loading.value = false;
        this.#schedule();
      }
    }
  }

  #append(page: Delivery[], next: string | null): void {
    const known = new Set(this.list.value.map(({ id }) => id));
    this.list.value = [...this.list.value, ...page.filter(({ id }) => !known.has(id))];
    this.#next.value = next;
  }

  // The newest page replaces the top. What was loaded below it stays, unless there is a gap between.
  #merge(top: Delivery[], next: string | null): void {
    for (const { id, state } of top) if (state !== 'pending') this.#expected.delete(id);
    const ids = new Set(top.map(({ id }) => id));
    const old = this.list.value;
    const last = next === null ? -1 : old.findLastIndex(({ id }) => ids.has(id));
    const rest = last < 0 ? [] : old.slice(last + 1);
    this.list.value = [...top, ...rest];
    if (rest.length === 0) this.#next.value = next;
  }

  readonly #wake = (): void => {
    if (document.visibilityState === 'visible') void this.refresh();
  };

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#running || document.visibilityState !== 'visible') return;
    const due = (time: number | null) => time !== null && time < Date.now() + POLL_INTERVAL;
    const soon = this.list.value.some((d) => d.state === 'pending' && due(d.next_attempt_time));
    if (soon || this.#expects()) this.#timer = setTimeout(() => void this.refresh(), POLL_INTERVAL);
  }

  #expects(): boolean {
    for (const [id, until] of this.#expected) if (until < Date.now()) this.#expected.delete(id);
    return this.#expected.size > 0;
  }
}
