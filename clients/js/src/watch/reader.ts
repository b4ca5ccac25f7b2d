// Reads the thread of a watched session when its state requires it, and older items on demand.

import { type Access, isFinal, type WatchError } from './options.js';
import { STALE, type WatchState } from './state.js';
import { type ReadPage, readBefore, readEnd, readThread } from './thread.js';
import { backoff, type Timers } from './timers.js';

interface Handlers {
  /** The state has changed. */
  update(): void;
  /** The number of failures, or the time of the next attempt, has changed. */
  report(): void;
  end(error: WatchError): void;
}

export class Reader {
  /** Failures to read the thread, in a row. */
  failures = 0;
  readonly #access: Pick<Access, 'read' | 'random'>;
  readonly #tail: number | undefined;
  readonly #state: WatchState;
  readonly #timers: Timers;
  readonly #handlers: Handlers;
  readonly #aborted = new AbortController();
  #reloads: number[] = []; // times of the reloads in the last minute
  #reading = false;
  #waiters: (() => void)[] = []; // resolvers of those who wait for the thread
  #older: Promise<void> | null = null; // the read of older items in progress

  constructor(
    access: Pick<Access, 'read' | 'random'>,
    tail: number | undefined,
    state: WatchState,
    timers: Timers,
    handlers: Handlers,
  ) {
    this.#access = access;
    this.#tail = tail;
    this.#state = state;
    this.#timers = timers;
    this.#handlers = handlers;
  }

  close(): void {
    this.#aborted.abort();
    this.#resolveWaiters();
  }

  /** Reads at once what waits after a failure. */
  retry(): void {
    if (this.#timers.has('read')) this.#timers.schedule('read', 0, () => this.#read());
  }

  /**
   * Reads the thread, unless that is under way or scheduled. Repeated reads are delayed: an item too
   * large for a frame requires one each time it grows.
   */
  read(): void {
    if (this.#reading || this.#timers.has('read')) return;
    const now = Date.now();
    this.#reloads = this.#reloads.filter((time) => now - time < 60_000);
    const often = this.#reloads.length - 1;
    if (often > 0) this.#timers.schedule('read', this.#backoff(often), () => this.#read());
    else void this.#read();
  }

  /** Loads the items before those held. A call during another one resolves with it. */
  older(count?: number): Promise<void> {
    this.#older ??= this.#readOlder(count).finally(() => {
      this.#older = null;
    });
    return this.#older;
  }

  async #read(): Promise<void> {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    try {
      await this.#replaceState();
      this.#reloads.push(Date.now());
      this.failures = 0;
    } catch (error) {
      if (isFinal(error)) return this.#handlers.end(error);
      if (this.#closed) return;
      this.#timers.schedule('read', this.#backoff(this.failures++), () => this.#read());
    } finally {
      this.#reading = false;
    }
    this.#handlers.report();
    this.#handlers.update();
    if (!this.#state.needsThread) this.#resolveWaiters();
  }

  // With a tail, reads at least as many items as are held, so that no reader loses their place.
  async #replaceState(): Promise<void> {
    const tail = this.#tail;
    if (!tail) {
      this.#state.replace(await readThread(this.#readPage), Date.now());
      return;
    }
    const count = Math.max(tail, this.#state.size);
    const end = await readEnd(this.#readPage, count);
    this.#state.replace([end], Date.now(), end.older);
  }

  readonly #readPage: ReadPage = (query) => this.#access.read(query, this.#aborted.signal);

  #backoff(failures: number): number {
    return backoff(failures, { random: this.#access.random });
  }

  get #closed(): boolean {
    return this.#aborted.signal.aborted;
  }

  #resolveWaiters(): void {
    for (const done of this.#waiters.splice(0)) done();
  }

  // If a rewind has invalidated the cursor, reads the end again to get another.
  async #readOlder(count = this.#tail ?? 0): Promise<void> {
    while (!this.#closed && this.#state.older !== null) {
      const from = this.#state.older;
      const reads = from !== STALE && !this.#state.needsThread;
      const page = reads ? await readBefore(this.#readPage, count, from) : null;
      if (page && this.#state.prepend(page.items, from, page.older, Date.now())) {
        this.#handlers.update();
        return;
      }
      if (page) continue; // the held items have changed
      if (this.#state.older !== from && !this.#state.needsThread) continue;
      this.#state.reread();
      await new Promise<void>((done) => {
        this.#waiters.push(done);
        this.#handlers.update();
      });
    }
  }
}
