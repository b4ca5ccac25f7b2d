// A list that is read page by page, the latest first. It is read again when the tab gets the focus and
// when the network returns.

import { batch, computed, signal } from '@preact/signals-core';
import { errorText } from '../api/error';

export interface PageOf<T> {
  data: T[];
  next_cursor: string | null;
}

export abstract class Paged<T> {
  readonly list = signal<readonly T[]>([]);
  readonly loaded = signal(false);
  readonly loading = signal(false);
  readonly failed = signal('');
  readonly #next = signal<string | null>(null);
  readonly more = computed(() => this.#next.value !== null);

  #asked = 0; // number of the newest request; responses to older ones are ignored
  #running = false;

  protected abstract read(cursor: string | undefined): Promise<PageOf<T>>;
  /** Tells the items of the list apart. */
  protected abstract key(item: T): string;
  /** Called with the newest page before it is shown. */
  protected arrived(_top: readonly T[]): void {}
  /** Called before and after each read, and at the end; `running` says whether the list is shown. */
  protected settle(_running: boolean): void {}

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
      this.settle(false);
      for (const [target, event] of targets) target.removeEventListener(event, this.#wake);
    };
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
    this.settle(false);
    this.loading.value = true;
    try {
      const { data, next_cursor } = await this.read(cursor);
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
        this.settle(this.#running && document.visibilityState === 'visible');
      }
    }
  }

  #append(page: readonly T[], next: string | null): void {
    const known = new Set(this.list.value.map((item) => this.key(item)));
    this.list.value = [...this.list.value, ...page.filter((item) => !known.has(this.key(item)))];
    this.#next.value = next;
  }

  // The newest page replaces the top. What was loaded below it stays, unless there is a gap between.
  #merge(top: readonly T[], next: string | null): void {
    this.arrived(top);
    const keys = new Set(top.map((item) => this.key(item)));
    const old = this.list.value;
    const last = next === null ? -1 : old.findLastIndex((item) => keys.has(this.key(item)));
    const rest = last < 0 ? [] : old.slice(last + 1);
    this.list.value = [...top, ...rest];
    if (rest.length === 0) this.#next.value = next;
  }

  readonly #wake = (): void => {
    if (document.visibilityState === 'visible') void this.refresh();
  };
}
