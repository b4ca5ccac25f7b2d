// Watches a session live, over the WebSocket API and any environment's WebSocket.

import { RethreadError } from '../http/errors.js';
import type { Tokens } from '../http/token.js';
import type { Event } from '../types.js';
import { Connection, type Socket } from './connection.js';
import type { WatchedItem, WatchedSession } from './message.js';
import { STALE, WatchState } from './state.js';
import { type ReadPage, readBefore, readEnd, readThread } from './thread.js';

const RENEW_AFTER = 110 * 60_000; // milliseconds; the gateway closes a connection after 2 hours
const LINGER = 30_000; // milliseconds that an old connection stays open beside its successor
const FINAL = [400, 403, 404, 422]; // statuses with which a retry cannot succeed

/** The connection's state at one moment. */
export interface WatchConnection {
  /** `offline` after two failed attempts in a row, until the session is live again. */
  state: 'connecting' | 'live' | 'offline';
  /** Time of the next attempt in epoch milliseconds; null if none is scheduled. */
  retryAt: number | null;
}

/** Why watching has ended. */
export type WatchError = RethreadError & {
  /** Why access ended: the share was revoked, or it has expired. */
  reason?: 'revoked' | 'expired';
};

export interface WatchOptions<Item = Event> {
  /** Start with this many of the newest items; without it all are read. */
  tail?: number;
  /** Called with the session after each change. Unchanged items stay the same objects. */
  onChange: (session: WatchedSession<Item>) => void;
  /** Called with the connection's state after each change. */
  onConnection?: (connection: WatchConnection) => void;
  /**
   * Called when the share that gave access has ended, but another one still gives it. The caller's
   * right may have changed: `sessions.get` returns it as `access`.
   */
  onAccess?: () => void;
  /**
   * Called once when watching ends with a final error. Its status is 404 (no such session), 403 (no
   * access), 410 (deleted), or 400 or 422 (invalid request).
   */
  onEnd?: (error: WatchError) => void;
}

/** A session that is watched. */
export interface Watching {
  /** Ends watching; no connection, timer or listener remains. */
  close(): void;
  /**
   * Loads `count` items before those shown, by default as many as `tail`. Resolves when `onChange` has
   * been called with them or there are none; rejects if they could not be read, and can be called
   * again. A call during another one resolves with it.
   */
  older(count?: number): Promise<void>;
  /** Connects at once instead of at `retryAt`. */
  retry(): void;
}

/** Globals of a browser: its WebSocket, and the events of a page that is visible or online again. */
export interface Environment {
  WebSocket?: new (url: URL) => Socket;
  document?: Pick<Document, 'addEventListener' | 'removeEventListener' | 'visibilityState'>;
  window?: Pick<Window, 'addEventListener' | 'removeEventListener'>;
}

/** The parts of the client that watching uses. */
export interface Access {
  sessionId: string;
  wsUrl: string;
  tokens: Tokens;
  read: (query: Parameters<ReadPage>[0], signal: AbortSignal) => ReturnType<ReadPage>;
  environment: Environment;
  random: () => number;
  /** Called when watching has ended or was closed. */
  closed: () => void;
}

/**
 * Returns the delay in milliseconds after a number of failures: `least` plus a random time of up to
 * 250 ms, doubling with each failure up to 30 s. `random` returns a number from 0 to below 1.
 */
export function backoff(
  failures: number,
  { least = 0, random = Math.random }: { least?: number; random?: () => number } = {},
): number {
  return least + random() * Math.min(30_000, 250 * 2 ** failures);
}

/** Watches a session until `close` or a final error. It retries all other failures. */
export class SessionWatch implements Watching {
  readonly #access: Access;
  readonly #options: WatchOptions<WatchedItem>;
  readonly #aborted = new AbortController();
  readonly #connections = new Set<Connection>(); // also those that are not open yet, or not any more
  readonly #state = new WatchState();
  #connection: Connection | null = null;
  #subscribedOn: Connection | null = null;
  readonly #timers = new Map<string, { timer: ReturnType<typeof setTimeout>; at: number }>();
  #failures = 0; // to connect or subscribe, in a row
  #rejected = ''; // the token that the server has rejected, until another one is used
  #suspected = false; // whether another token was tried since a connection was open
  #endReason: WatchError['reason']; // why the server ended the subscription, until another is accepted
  #reloads: number[] = []; // times of the reloads in the last minute
  #reading = false;
  #readFailures = 0; // to read the thread, in a row
  #rereadWaiters: (() => void)[] = []; // resolvers of those who wait for the thread
  #older: Promise<void> | null = null; // the read of older items in progress
  #connecting = false;
  #live = false; // the subscription on the current connection was accepted
  #offline = false;
  #reported: WatchConnection = { state: 'connecting', retryAt: null };
  #shown = 0;
  #closed = false;

  constructor(access: Access, options: WatchOptions<WatchedItem>) {
    this.#access = access;
    this.#options = options;
  }

  start(): void {
    const { window, document } = this.#access.environment;
    window?.addEventListener('online', this.#wake);
    document?.addEventListener('visibilitychange', this.#wake);
    void this.#connect();
    this.#update();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    const { window, document } = this.#access.environment;
    window?.removeEventListener('online', this.#wake);
    document?.removeEventListener('visibilitychange', this.#wake);
    this.#aborted.abort();
    for (const connection of this.#connections) connection.close();
    this.#resolveRereads();
    this.#access.closed();
  }

  /** Loads the items before those held. */
  older(count?: number): Promise<void> {
    this.#older ??= this.#readOlder(count).finally(() => {
      this.#older = null;
    });
    return this.#older;
  }

  /** Retries at once everything that waits after a failure. */
  retry(): void {
    if (this.#closed) return;
    this.#failures = this.#readFailures = 0;
    if (this.#connection) this.#connection.ping();
    else void this.#connect();
    if (this.#timers.has('read')) this.#schedule('read', 0, () => this.#read());
    if (this.#timers.has('subscribe')) this.#schedule('subscribe', 0, () => this.#resubscribe());
    this.#report();
  }

  // After sleep a connection may be dead without an event, and pending delays are pointless.
  readonly #wake = (): void => {
    if (this.#access.environment.document?.visibilityState !== 'hidden') this.retry();
  };

  #end(error: WatchError): void {
    if (this.#closed) return;
    this.close();
    this.#options.onEnd?.(error);
  }

  #schedule(name: string, delay: number, run: () => unknown): void {
    this.#cancel(name);
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      run();
    }, delay);
    this.#timers.set(name, { timer, at: Date.now() + delay });
  }

  #cancel(name: string): void {
    clearTimeout(this.#timers.get(name)?.timer);
    this.#timers.delete(name);
  }

  // Calls onConnection if the connection's state has changed.
  #report(): void {
    if (this.#closed) return;
    if (this.#readFailures > 1 || (!this.#live && this.#failures > 1)) this.#offline = true;
    else if (this.#live && this.#readFailures === 0) this.#offline = false;
    const state = this.#offline ? 'offline' : this.#live ? 'live' : 'connecting';
    const due = ['connect', 'subscribe', 'read'].flatMap(
      (name) => this.#timers.get(name)?.at ?? [],
    );
    const retryAt = state === 'live' || due.length === 0 ? null : Math.min(...due);
    if (state === this.#reported.state && retryAt === this.#reported.retryAt) return;
    this.#reported = { state, retryAt };
    this.#options.onConnection?.(this.#reported);
  }

  // Shows changes and takes the next step that the state requires.
  #update(): void {
    if (this.#closed) return;
    const state = this.#state;
    if (this.#shown !== state.version && !state.needsThread) {
      this.#shown = state.version;
      this.#options.onChange(state.show());
    }
    if (this.#closed) return; // in onChange
    if (state.deleted) {
      this.#end(new RethreadError(410, { problem: { detail: 'The session was deleted.' } }));
    } else if (state.needsThread) {
      this.#scheduleRead();
      return;
    }
    const { repairAt } = state;
    const due = repairAt !== null && repairAt <= Date.now();
    if (this.#connection && (this.#subscribedOn !== this.#connection || due)) {
      this.#subscribe(this.#connection);
    } else if (repairAt !== null) {
      this.#schedule('repair', repairAt - Date.now(), () => this.#update());
    }
  }

  #subscribe(connection: Connection): void {
    if (connection.busy || this.#timers.has('subscribe')) return;
    this.#subscribedOn = connection;
    connection.subscribe(this.#access.sessionId, this.#state.cursor);
    this.#state.repairing(Date.now());
  }

  // Delays repeated reads: an item too large for a frame requires one each time it grows.
  #scheduleRead(): void {
    if (this.#reading || this.#timers.has('read')) return;
    const now = Date.now();
    this.#reloads = this.#reloads.filter((time) => now - time < 60_000);
    const often = this.#reloads.length - 1;
    if (often > 0) this.#schedule('read', this.#backoff(often), () => this.#read());
    else void this.#read();
  }

  async #read(): Promise<void> {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    try {
      await this.#replaceState();
      this.#reloads.push(Date.now());
      this.#readFailures = 0;
    } catch (error) {
      if (isFinal(error)) return this.#end(error);
      if (this.#closed) return;
      this.#schedule('read', this.#backoff(this.#readFailures++), () => this.#read());
    } finally {
      this.#reading = false;
    }
    this.#report();
    this.#update();
    if (!this.#state.needsThread) this.#resolveRereads();
  }

  // With a tail, reads at least as many items as are held, so that no reader loses their place.
  async #replaceState(): Promise<void> {
    const { tail } = this.#options;
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

  #resolveRereads(): void {
    for (const done of this.#rereadWaiters.splice(0)) done();
  }

  // If a rewind has invalidated the cursor, reads the end again to get another.
  async #readOlder(count = this.#options.tail ?? 0): Promise<void> {
    while (!this.#closed && this.#state.older !== null) {
      const from = this.#state.older;
      const reads = from !== STALE && !this.#state.needsThread;
      const page = reads ? await readBefore(this.#readPage, count, from) : null;
      if (page && this.#state.prepend(page.items, from, page.older, Date.now())) {
        this.#update();
        return;
      }
      if (page) continue; // the held items have changed
      if (this.#state.older !== from && !this.#state.needsThread) continue;
      this.#state.reread();
      await new Promise<void>((done) => {
        this.#rereadWaiters.push(done);
        this.#update();
      });
    }
  }

  async #connect(): Promise<void> {
    this.#cancel('connect');
    if (this.#connecting || this.#closed) return;
    this.#connecting = true;
    try {
      const token = await this.#access.tokens.get(this.#rejected);
      if (!this.#closed) this.#open(token);
    } catch {
      this.#connectLater();
    } finally {
      this.#connecting = false;
    }
  }

  #connectLater(): void {
    if (!this.#closed)
      this.#schedule('connect', this.#backoff(this.#failures++), () => this.#connect());
    this.#report();
  }

  // The new connection takes over when it is open, and the old one is closed only later, so that no
  // message is lost in between.
  #open(token: string): void {
    const { WebSocket } = this.#access.environment;
    if (!WebSocket) throw new TypeError('no WebSocket');
    const url = new URL(this.#access.wsUrl);
    url.searchParams.set('token', token);
    let opened = false;
    const connection = new Connection(new WebSocket(url), {
      open: () => {
        opened = true;
        this.#suspected = false;
        const old = this.#connection;
        if (old) this.#schedule('linger', LINGER, () => old.close());
        this.#connection = connection;
        this.#rejected = '';
        this.#schedule('renew', RENEW_AFTER - this.#access.random() * LINGER, () =>
          this.#connect(),
        );
        this.#update();
      },
      subscribed: () => {
        this.#failures = 0;
        const changed = this.#endReason !== undefined;
        this.#endReason = undefined;
        if (changed) this.#options.onAccess?.();
        this.#live ||= this.#connection === connection;
        this.#report();
        this.#update();
      },
      message: (message) => {
        this.#state.apply(message, Date.now());
        this.#update();
      },
      unreadable: () => {
        this.#state.missed(Date.now());
        this.#update();
      },
      unsubscribed: (reason) => this.#subscribedOn === connection && this.#unsubscribed(reason),
      refused: (error) => this.#refused(error),
      unauthorized: () => {
        this.#rejected = token;
      },
      closed: () => {
        if (!opened) this.#suspect(token);
        this.#disconnected(connection);
      },
    });
    this.#connections.add(connection);
  }

  // A handshake that is refused looks like a server that cannot be reached. After the second failure
  // another token is tried, once until a connection opens.
  #suspect(token: string): void {
    if (this.#failures === 0 || this.#suspected) return;
    this.#suspected = true;
    this.#rejected = token;
  }

  #refused(error: RethreadError): void {
    if (isFinal(error)) {
      this.#end(Object.assign(error, { reason: this.#endReason }));
      return;
    }
    this.#schedule('subscribe', this.#backoff(this.#failures++), () => this.#resubscribe());
    this.#report();
  }

  // The access behind the subscription has ended. Subscribing once more shows whether the caller
  // still has access in another way.
  #unsubscribed(reason: WatchError['reason']): void {
    this.#endReason = reason;
    this.#schedule('subscribe', this.#backoff(this.#failures++), () => this.#resubscribe());
  }

  #resubscribe(): void {
    this.#subscribedOn = null;
    this.#update();
  }

  #disconnected(connection: Connection): void {
    this.#connections.delete(connection);
    this.#state.lost();
    const current = this.#connection === connection;
    if (current) {
      this.#connection = this.#subscribedOn = null;
      this.#live = false;
    }
    if (current || !this.#connection) this.#connectLater();
    this.#update();
  }
}

function isFinal(error: unknown): error is RethreadError {
  return error instanceof RethreadError && FINAL.includes(error.status);
}
