// Watches a session live, in browsers and any other environment with WebSocket and fetch:
//
//   const watching = watch({
//     httpUrl: 'https://api.example/api/v1',
//     wsUrl: 'wss://live.example/v1',
//     token: async () => '…',
//     sessionId: 'S1',
//     onChange: ({ items, status }) => …,
//   });
//   …
//   watching.close();

import { Connection } from './connection.js';
import { STALE, WatchState } from './state.js';
import { readBefore, readEnd, readThread } from './thread.js';

export { WatchState };

const RENEW_AFTER = 110 * 60_000; // milliseconds; the gateway closes a connection after 2 hours
const LINGER = 30_000; // milliseconds that an old connection stays open beside its successor

/**
 * Watches a session until it is closed or ends.
 *
 * @param {object} options
 * @param {string} options.httpUrl the HTTP API's address, with its version
 * @param {string} options.wsUrl the WebSocket API's address
 * @param {() => Promise<string>} options.token returns a bearer token, which should be valid for
 *   some more minutes; called for each connection and each page of a thread, so it should cache
 * @param {string} options.sessionId
 * @param {number} [options.tail] start with this many of the newest items; `has_older` says whether
 *   there are earlier ones, and `older()` loads as many more. Without it all items are read
 * @param {(session: object) => void} options.onChange called with the session after each change:
 *   {items, status, run_id, error, status_seq, epoch, deleted, has_older}. Unchanged items stay the same objects
 * @param {(connection: object) => void} [options.onConnection] called with the connection's state
 *   after each change: {state, retryAt}. The state is 'connecting', 'live', or 'offline' after two
 *   failed attempts in a row; `retryAt` is the time of the next attempt in epoch milliseconds, null
 *   if none is scheduled
 * @param {(error: Error) => void} [options.onEnd] called once when watching ends with a final error.
 *   Its `status` is 404 (no such session), 403 (no access), 410 (deleted), or 400 or 422 (invalid
 *   request). If access was revoked or has expired, its `reason` is 'revoked' or 'expired'
 * @param {object} [options.environment] replacements of globals: WebSocket, fetch, document, window
 * @returns {{close: () => void, older: () => Promise<void>, retry: () => void}} `older` loads the
 *   items before those shown, and resolves when `onChange` has been called with them or there are
 *   none; `retry` connects at once instead of at `retryAt`
 */
export function watch(options) {
  const watching = new Watching(options);
  watching.start();
  return {
    close: () => watching.close(), older: () => watching.older(), retry: () => watching.retry(),
  };
}

/**
 * Returns the delay in milliseconds after a number of failures: `least` plus a random time of up to
 * 250 ms, doubling with each failure up to 30 s. `random` returns a number from 0 to below 1.
 */
export function backoff(failures, { least = 0, random = Math.random } = {}) {
  return least + random() * Math.min(30_000, 250 * 2 ** failures);
}

class Watching {
  #options;
  #globals;
  #state = new WatchState();
  #connection = null;
  #subscribedOn = null;
  #timers = new Map();
  #failures = 0; // to connect or subscribe, in a row
  #endReason = undefined; // why the server ended the subscription, until another is accepted
  #reloads = []; // times of the reloads in the last minute
  #reading = false;
  #readFailures = 0; // to read the thread, in a row
  #rereadWaiters = []; // resolvers of those who wait for the thread
  #older = null; // the read of older items in progress
  #connecting = false;
  #live = false; // the subscription on the current connection was accepted
  #offline = false;
  #reported = { state: 'connecting', retryAt: null };
  #shown = 0;
  #closed = false;

  constructor(options) {
    this.#options = options;
    this.#globals = { ...pick(globalThis), ...options.environment };
  }

  start() {
    this.#globals.window?.addEventListener('online', this.#wake);
    this.#globals.document?.addEventListener('visibilitychange', this.#wake);
    this.#connect();
    this.#update();
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#globals.window?.removeEventListener('online', this.#wake);
    this.#globals.document?.removeEventListener('visibilitychange', this.#wake);
    this.#connection?.close();
    this.#resolveRereads();
  }

  /** Loads the items before those held. */
  older() {
    this.#older ??= this.#readOlder().finally(() => {
      this.#older = null;
    });
    return this.#older;
  }

  /** Retries at once everything that waits after a failure. */
  retry() {
    if (this.#closed) return;
    this.#failures = this.#readFailures = 0;
    if (this.#connection) this.#connection.ping();
    else this.#connect();
    for (const [name, run] of [['read', () => this.#read()], ['subscribe', () => this.#resubscribe()]]) {
      if (this.#timers.has(name)) this.#schedule(name, 0, run);
    }
    this.#report();
  }

  // After sleep a connection may be dead without an event, and pending delays are pointless.
  #wake = () => {
    if (this.#globals.document?.visibilityState !== 'hidden') this.retry();
  };

  #end(error) {
    if (this.#closed) return;
    this.close();
    this.#options.onEnd?.(error);
  }

  #schedule(name, delay, run) {
    this.#cancel(name);
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      run();
    }, delay);
    this.#timers.set(name, { timer, at: Date.now() + delay });
  }

  #cancel(name) {
    clearTimeout(this.#timers.get(name)?.timer);
    this.#timers.delete(name);
  }

  // Calls onConnection if the connection's state has changed.
  #report() {
    if (this.#closed) return;
    if (this.#readFailures > 1 || (!this.#live && this.#failures > 1)) this.#offline = true;
    else if (this.#live && this.#readFailures === 0) this.#offline = false;
    const state = this.#offline ? 'offline' : this.#live ? 'live' : 'connecting';
    const due = ['connect', 'subscribe', 'read'].flatMap((name) => this.#timers.get(name)?.at ?? []);
    const retryAt = state === 'live' || due.length === 0 ? null : Math.min(...due);
    if (state === this.#reported.state && retryAt === this.#reported.retryAt) return;
    this.#reported = { state, retryAt };
    this.#options.onConnection?.(this.#reported);
  }

  // Shows changes and takes the next step that the state requires.
  #update() {
    if (this.#closed) return;
    const state = this.#state;
    if (this.#shown !== state.version && !state.needsThread) {
      this.#shown = state.version;
      this.#options.onChange(state.show());
    }
    if (this.#closed) return; // in onChange
    if (state.deleted) {
      this.#end(Object.assign(new Error('the session was deleted'), { status: 410 }));
    } else if (state.needsThread) {
      this.#scheduleRead();
    } else if (this.#connection && (this.#subscribedOn !== this.#connection || state.repairAt <= Date.now() && state.repairAt !== null)) {
      this.#subscribe();
    } else if (state.repairAt !== null) {
      this.#schedule('repair', state.repairAt - Date.now(), () => this.#update());
    }
  }

  #subscribe() {
    if (this.#connection.busy || this.#timers.has('subscribe')) return;
    this.#subscribedOn = this.#connection;
    this.#connection.subscribe(this.#options.sessionId, this.#state.cursor);
    this.#state.repairing(Date.now());
  }

  // Delays repeated reads: an item too large for a frame requires one each time it grows.
  #scheduleRead() {
    if (this.#reading || this.#timers.has('read')) return;
    const now = Date.now();
    this.#reloads = this.#reloads.filter((time) => now - time < 60_000);
    const often = this.#reloads.length - 1;
    if (often > 0) this.#schedule('read', backoff(often), () => this.#read());
    else this.#read();
  }

  async #read() {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    try {
      await this.#replaceState();
      this.#reloads.push(Date.now());
      this.#readFailures = 0;
    } catch (error) {
      if (error.final) return this.#end(error);
      this.#schedule('read', backoff(this.#readFailures++), () => this.#read());
    } finally {
      this.#reading = false;
    }
    this.#report();
    this.#update();
    if (!this.#state.needsThread) this.#resolveRereads();
  }

  // With a tail, reads at least as many items as are held, so that no reader loses their place.
  async #replaceState() {
    const { tail } = this.#options;
    if (!tail) {
      this.#state.replace(await readThread(this.#options, this.#globals.fetch), Date.now());
      return;
    }
    const count = Math.max(tail, this.#state.size);
    const end = await readEnd(this.#options, this.#globals.fetch, count);
    this.#state.replace([end], Date.now(), end.older);
  }

  #resolveRereads() {
    for (const done of this.#rereadWaiters.splice(0)) done();
  }

  // If a rewind has invalidated the cursor, reads the end again to get another.
  async #readOlder() {
    while (!this.#closed && this.#state.older !== null) {
      const from = this.#state.older;
      const reads = from !== STALE && !this.#state.needsThread;
      const page = reads
        ? await readBefore(this.#options, this.#globals.fetch, this.#options.tail, from) : null;
      if (page && this.#state.prepend(page.items, from, page.older, Date.now())) {
        this.#update();
        return;
      }
      if (page) continue; // the held items have changed
      if (this.#state.older !== from && !this.#state.needsThread) continue;
      this.#state.reread();
      await new Promise((done) => {
        this.#rereadWaiters.push(done);
        this.#update();
      });
    }
  }

  async #connect() {
    this.#cancel('connect');
    if (this.#connecting || this.#closed) return;
    this.#connecting = true;
    try {
      const token = await this.#options.token();
      if (!this.#closed) this.#open(token);
    } catch {
      this.#connectLater();
    } finally {
      this.#connecting = false;
    }
  }

  #connectLater() {
    if (!this.#closed) this.#schedule('connect', backoff(this.#failures++), () => this.#connect());
    this.#report();
  }

  // The new connection takes over when it is open, and the old one is closed only later, so that no
  // message is lost in between.
  #open(token) {
    const url = new URL(this.#options.wsUrl);
    url.searchParams.set('token', token);
    const connection = new Connection(new this.#globals.WebSocket(url), {
      open: () => {
        if (this.#closed) return connection.close();
        const old = this.#connection;
        if (old) setTimeout(() => old.close(), LINGER);
        this.#connection = connection;
        this.#schedule('renew', RENEW_AFTER - Math.random() * LINGER, () => this.#connect());
        this.#update();
      },
      subscribed: () => {
        this.#failures = 0;
        this.#endReason = undefined;
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
      closed: () => this.#disconnected(connection),
    });
  }

  #refused(error) {
    if (error.final) return this.#end(Object.assign(error, { reason: this.#endReason }));
    this.#schedule('subscribe', backoff(this.#failures++), () => this.#resubscribe());
    this.#report();
  }

  // The access behind the subscription has ended. Subscribing once more shows whether the caller
  // still has access in another way.
  #unsubscribed(reason) {
    this.#endReason = reason;
    this.#schedule('subscribe', backoff(this.#failures++), () => this.#resubscribe());
  }

  #resubscribe() {
    this.#subscribedOn = null;
    this.#update();
  }

  #disconnected(connection) {
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

function pick({ WebSocket, fetch, document, window }) {
  return { WebSocket, fetch, document, window };
}
